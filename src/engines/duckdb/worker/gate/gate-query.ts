import { AppError } from '../../../../core/app-error.ts';
import type { Definition } from '../../../../core/definition.ts';
import type { Query, TableName, TextEdit } from '../../../../core/sql.ts';
import type { Connection } from '../native/session.ts';
import { checkExpressionList } from './check-expression-list.ts';
import { type ClauseOfRow, checkTree, type TreeFacts } from './check-tree.ts';
import { expandDefinitions } from './definitions/expand.ts';
import type { ExpandedText } from './definitions/expanded-text.ts';
import { gatedReads, hasLive } from './live/gated-reads.ts';
import { parseQuery } from './parse-query.ts';
import { bytePosition, type TreeNode } from './parse-tree.ts';
import { type RowIdUse, starEdits } from './row-ids.ts';
import { checkText, checkTokens } from './text-limits.ts';
import { nearestPlace } from './text-pieces.ts';
import { type Origin, offsetOfByte, offsetsOfBytes } from './text-position.ts';
import { tokenize } from './tokenizer.ts';
import { viewTextEdits } from './view-texts.ts';

/** What a text may be beside a query, or must be. */
export interface TextRules {
  /** DEFAULT may stand for a value, as in an INSERT. */
  readonly takesDefault?: boolean;
  /** The text reads the frame that the statement changes. */
  readonly hasTarget?: boolean;
  /** It is so many expressions, each a value of one row alone. */
  readonly expressions?: number;
  /** Each row that it gives is made of one row, for this clause: it has no aggregates, windows and subqueries. */
  readonly isOfEachRow?: ClauseOfRow | undefined;
  /** It may ask DuckDB's catalogs: who runs it where these hold nothing but the caller's tables says so. */
  readonly mayReadCatalogs?: boolean;
  /** Those that it may name. */
  readonly definitions?: readonly Definition[];
}

/** A query with every place in its text where it names a table. */
export interface GatedText extends Query {
  readonly references: readonly { readonly table: TableName; readonly at: number }[];
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

export type GateText = (sql: string, origin: Origin, rules?: TextRules) => Promise<Query>;
export type GateReferences = (...part: Parameters<GateText>) => Promise<GatedText>;

/** Checks the text of a query; what it gives is exactly that text, with what definitions say in the place of their names. */
export async function gateQuery(
  connection: Connection,
  sql: string,
  origin: Origin,
  { definitions = [], ...rules }: TextRules = {},
): Promise<GatedText> {
  if (definitions.length === 0) return await gateText(connection, sql, origin, rules);
  const expanded = await movingErrors(origin, () => expandDefinitions(connection, sql, definitions));
  if (expanded === undefined) return await gateText(connection, sql, origin, rules);
  return await gateExpanded(connection, expanded, origin, rules);
}

/** The same of a text in which definitions stand in the place of their names: that is what it gives. */
export async function gateExpanded(
  connection: Connection,
  expanded: ExpandedText,
  origin: Origin,
  rules: TextRules,
): Promise<GatedText> {
  const pieces = expanded.pieces(origin);
  const place = (at: number): number => nearestPlace(pieces, at);
  const text = expanded.sql;
  await movingErrors(place, async () => {
    checkText(text);
    checkTokens(tokenize(text));
  });
  return { ...(await gateText(connection, text, place, rules)), start: undefined, pieces, usesDefinitions: true };
}

async function gateText(
  connection: Connection,
  sql: string,
  origin: Origin,
  { takesDefault = false, hasTarget = false, isOfEachRow, expressions, mayReadCatalogs = false }: TextRules,
): Promise<GatedText> {
  return await movingErrors(origin, async () => {
    const { tree, text, place, isPivoted } = await parseQuery(connection, sql);
    const facts = inCharacters(text, place, () => {
      if (expressions !== undefined) checkExpressionList(tree, expressions);
      return checkTree(tree, text, { takesDefault, isPivoted, hasTarget, isOfEachRow });
    });
    if (facts.readsCatalogs && !mayReadCatalogs) throw catalogsHere();
    // The values that DuckDB looks up become a type, which catalogs would show.
    if (facts.readsCatalogs && isPivoted) throw listPivot('of catalogs');
    // What the statement gives must be known before its rows are fetched.
    if (hasLive(facts.live) && isPivoted) throw listPivot('over the external database');
    const tables = inCallersText(facts.tables, text, (at) => origin(place(at)));
    const references = inText(facts.references, text, place);
    const rowIds =
      facts.rowIds === undefined ? {} : { rowIds: { edits: text === sql ? edits(sql, facts.rowIds) : undefined } };
    const live = hasLive(facts.live)
      ? gatedReads(tree, sql, facts.live, {
          offset: (at) => Math.max(0, origin(at)),
          node: (node) => {
            const byte = bytePosition(node);
            return byte === undefined ? undefined : Math.max(0, origin(place(offsetOfByte(text, byte))));
          },
        })
      : undefined;
    const catalogs = facts.readsCatalogs
      ? { readsCatalogs: true as const, viewTextEdits: text === sql ? textsOfViews(sql, facts) : undefined }
      : {};
    const describes = facts.describesTables && !isPivoted ? { describesTables: true as const } : {};
    const found = { sql, start: origin(0), tables, references, isPivoted };
    const reads = { ...rowIds, ...catalogs, ...describes, ...(live && { live }) };
    return { ...found, ...reads, ...parametersOf(tree, facts.parameters) };
  });
}

/** Errors of a text tell where they stand in the caller's. */
export async function movingErrors<T>(origin: Origin, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof AppError && error.position !== undefined
      ? movedTo(error, Math.max(0, origin(error.position)))
      : error;
  }
}

function edits(sql: string, { stars }: RowIdUse): readonly TextEdit[] | undefined {
  return stars && starEdits(tokenize(sql), offsetsOfBytes(sql, stars));
}

function textsOfViews(sql: string, { viewTexts }: TreeFacts): readonly TextEdit[] | undefined {
  if (viewTexts.length === 0) return undefined;
  const places = offsetsOfBytes(
    sql,
    viewTexts.map(({ at }) => at),
  );
  return viewTextEdits(
    tokenize(sql),
    viewTexts.map((use, index) => ({ ...use, at: places[index] ?? sql.length })),
  );
}

function catalogsHere(): AppError {
  return new AppError('sql_forbidden', 'catalogs cannot be read here', {
    hint: 'keep what they say as a frame, and read that one: CREATE TABLE x AS FROM information_schema.columns',
  });
}

function listPivot(which: string): AppError {
  return new AppError('sql_forbidden', `a PIVOT ${which} must list its values`, {
    hint: 'write PIVOT … ON column IN (…)',
  });
}

/** Of `?` and `$1`, which must have no gaps, or of `$name`; DuckDB's parser lets nobody mix them. */
function parametersOf(tree: TreeNode, used: ReadonlySet<string>): Pick<Query, 'parameterCount' | 'parameterNames'> {
  if ([...used].some((name) => !/^[0-9]+$/.test(name))) {
    const parameterNames = namesInOrder(tree);
    return { parameterCount: parameterNames.length, parameterNames };
  }
  for (let number = 1; number <= used.size; number++) {
    if (!used.has(String(number))) {
      throw new AppError('sql_error', `parameter $${number} is missing`, {
        hint: 'number parameters from $1 without gaps',
      });
    }
  }
  return { parameterCount: used.size };
}

function namesInOrder({ named_param_map: map }: TreeNode): string[] {
  const entries = (Array.isArray(map) ? map : []) as readonly { readonly key: string; readonly value: number }[];
  return [...entries].sort((a, b) => a.value - b.value).map(({ key }) => key);
}

/** The names with their positions as the caller counts. */
function inCallersText(tables: readonly TableName[], sql: string, origin: Origin): TableName[] {
  const offsets = offsetsOfBytes(
    sql,
    tables.map(({ position = Infinity }) => position),
  );
  return tables.map((table, index) => {
    const offset = offsets[index] ?? sql.length;
    return { ...table, position: offset < sql.length ? Math.max(0, origin(offset)) : undefined };
  });
}

/** As characters of the text that is run. */
function inText(references: TreeFacts['references'], text: string, place: Origin): GatedText['references'] {
  const offsets = offsetsOfBytes(
    text,
    references.map(({ position = Infinity }) => position),
  );
  return references.map((table, index) => ({ table, at: place(offsets[index] ?? text.length) }));
}

function inCharacters(text: string, place: Origin, check: () => TreeFacts): TreeFacts {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError) || error.position === undefined) throw error;
    throw movedTo(error, place(offsetOfByte(text, error.position)));
  }
}

function movedTo({ code, message, hint, retryAfterSeconds, cause }: AppError, position: number): AppError {
  return new AppError(code, message, { hint, position, retryAfterSeconds, cause });
}
