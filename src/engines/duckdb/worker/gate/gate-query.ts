import { AppError } from '../../../../core/app-error.ts';
import type { Query, TableName, TextEdit } from '../../../../core/sql.ts';
import type { Connection } from '../native/session.ts';
import { checkExpressionList } from './check-expression-list.ts';
import { checkTree, type TreeFacts } from './check-tree.ts';
import { withoutEnums } from './inner-enums.ts';
import { openPivots } from './open-pivot.ts';
import { parseTree, type TreeNode } from './parse-tree.ts';
import { type RowIdUse, starEdits } from './row-ids.ts';
import { editedText, placeWithoutEdits } from './text-edits.ts';
import { offsetOfByte, offsetsOfBytes } from './text-position.ts';
import { tokenize } from './tokenizer.ts';

/** Where an offset in a text stands in the caller's text. */
export type Origin = (offset: number) => number;

/** What a text may be beside a query, or must be. */
export interface TextRules {
  /** DEFAULT may stand for a value, as in an INSERT. */
  readonly takesDefault?: boolean;
  /** The text reads the frame that the statement changes. */
  readonly hasTarget?: boolean;
  /** It is so many expressions, each a value of one row alone. */
  readonly expressions?: number;
  /** Each row that it gives is made of one row: it has no aggregates, windows and subqueries. */
  readonly isOfEachRow?: boolean;
  /** It may ask DuckDB's catalogs: who runs it where these hold nothing but the caller's tables says so. */
  readonly mayReadCatalogs?: boolean;
}

/** A query with every place in its text where it names a table. */
export interface GatedText extends Query {
  readonly references: readonly { readonly table: TableName; readonly at: number }[];
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

export type GateText = (sql: string, origin: Origin, rules?: TextRules) => Promise<Query>;
export type GateReferences = (...part: Parameters<GateText>) => Promise<GatedText>;

/** Checks the text of a query; what it gives is exactly that text. */
export async function gateQuery(
  connection: Connection,
  sql: string,
  origin: Origin,
  {
    takesDefault = false,
    hasTarget = false,
    isOfEachRow = false,
    expressions,
    mayReadCatalogs = false,
  }: TextRules = {},
): Promise<GatedText> {
  try {
    const { tree, text, place, isPivoted } = await parse(connection, sql);
    const facts = inCharacters(text, place, () => {
      if (expressions !== undefined) checkExpressionList(tree, expressions);
      return checkTree(tree, text, { takesDefault, isPivoted, hasTarget, isOfEachRow });
    });
    if (facts.readsCatalogs && !mayReadCatalogs) throw catalogsHere();
    // The values that DuckDB looks up become a type, which catalogs would show.
    if (facts.readsCatalogs && isPivoted) throw catalogPivot();
    const tables = inCallersText(facts.tables, text, (at) => origin(place(at)));
    const references = inText(facts.references, text, place);
    const rowIds =
      facts.rowIds === undefined ? {} : { rowIds: { edits: text === sql ? edits(sql, facts.rowIds) : undefined } };
    const catalogs = facts.readsCatalogs ? { readsCatalogs: true as const } : {};
    const describes = facts.describesTables && !isPivoted ? { describesTables: true as const } : {};
    const found = { sql, start: origin(0), tables, references, isPivoted };
    return { ...found, ...rowIds, ...catalogs, ...describes, ...parametersOf(tree, facts.parameters) };
  } catch (error) {
    throw error instanceof AppError && error.position !== undefined
      ? movedTo(error, Math.max(0, origin(error.position)))
      : error;
  }
}

function edits(sql: string, { stars }: RowIdUse): readonly TextEdit[] | undefined {
  return stars && starEdits(tokenize(sql), offsetsOfBytes(sql, stars));
}

/** What was parsed, and where its offsets stand in the text of the query. */
interface ParsedText {
  readonly tree: TreeNode;
  readonly text: string;
  readonly place: Origin;
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

async function parse(connection: Connection, sql: string): Promise<ParsedText> {
  const { tree, text } = await parseEnums(connection, sql);
  if (tree === undefined) return await parseOpenPivots(connection, sql);
  return { tree, text, place: (at) => at, isPivoted: false };
}

/** Checks a text with an ENUM inside another type as the same with another type there. */
async function parseEnums(
  connection: Connection,
  sql: string,
): Promise<{ readonly tree: TreeNode | undefined; readonly text: string }> {
  try {
    return { tree: await parseTree(connection, sql), text: sql };
  } catch (error) {
    if (!(error instanceof AppError) || !error.message.startsWith('Cannot serialize non-constant type')) throw error;
    const text = withoutEnums(sql);
    if (text === sql) throw error;
    return { tree: await parseTree(connection, text), text };
  }
}

/** Checks a PIVOT without values as the same with one: what is put in holds no quote and no comment. */
async function parseOpenPivots(connection: Connection, sql: string): Promise<ParsedText> {
  const tokens = tokenize(sql);
  const edits = openPivots(tokens);
  if (edits.length === 0) throw /pivot/i.test(sql) ? computedPivot() : otherStatement();
  const parameter = tokens.find(({ kind }) => kind === 'parameter');
  if (parameter !== undefined) {
    throw new AppError('sql_error', 'a PIVOT with parameters must list its values', {
      hint: 'write PIVOT … ON column IN (…)',
      position: parameter.start,
    });
  }
  const text = editedText(sql, edits);
  const { tree } = await parseEnums(connection, text);
  if (tree === undefined) throw computedPivot();
  return { tree, text, place: (at) => placeWithoutEdits(at, edits), isPivoted: true };
}

function catalogsHere(): AppError {
  return new AppError('sql_forbidden', 'catalogs cannot be read here', {
    hint: 'keep what they say as a frame, and read that one: CREATE TABLE x AS FROM information_schema.columns',
  });
}

function catalogPivot(): AppError {
  return new AppError('sql_forbidden', 'a PIVOT of catalogs must list its values', {
    hint: 'write PIVOT … ON column IN (…)',
  });
}

function computedPivot(): AppError {
  return new AppError('sql_forbidden', 'this PIVOT must list its values', { hint: 'write PIVOT … ON column IN (…)' });
}

function otherStatement(): AppError {
  return new AppError('sql_forbidden', 'this kind of statement is not allowed', {
    position: 0,
    hint: 'allowed are queries, CREATE TABLE, INSERT INTO, UPDATE, DELETE, MERGE, TRUNCATE, DROP TABLE, SHOW TABLES and EXPLAIN',
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
