import { AppError } from '../../../../core/app-error.ts';
import type { Query, TableName, TextEdit } from '../../../../core/sql.ts';
import type { Connection } from '../native/session.ts';
import { checkExpressionList } from './check-expression-list.ts';
import { checkTree, type TreeFacts } from './check-tree.ts';
import { withoutEnums } from './inner-enums.ts';
import { openPivot, placeWithoutValues, withValues } from './open-pivot.ts';
import { parseTree, type TreeNode } from './parse-tree.ts';
import { type RowIdUse, starEdits } from './row-ids.ts';
import { offsetOfByte, offsetsOfBytes } from './text-position.ts';
import { tokenize } from './tokenizer.ts';

/** Where an offset in a text stands in the caller's text. */
export type Origin = (offset: number) => number;

/** What a PIVOT without a list of its values is: a query whose values DuckDB looks up itself, or not allowed. */
export type OpenPivots = 'allowed' | 'refused';

/** What a text may be beside a query, or must be. */
export interface TextRules {
  /** DEFAULT may stand for a value, as in an INSERT. */
  readonly takesDefault?: boolean;
  /** It is so many expressions, each a value of one row alone. */
  readonly expressions?: number;
}

export type GateText = (sql: string, origin: Origin, openPivots?: OpenPivots, rules?: TextRules) => Promise<Query>;

/** Checks the text of a query; what it gives is exactly that text. */
export async function gateQuery(
  connection: Connection,
  sql: string,
  origin: Origin,
  openPivots: OpenPivots = 'allowed',
  { takesDefault = false, expressions }: TextRules = {},
): Promise<Query> {
  try {
    const { tree, text, place } = await parse(connection, sql, openPivots);
    const facts = inCharacters(text, place, () => {
      if (expressions !== undefined) checkExpressionList(tree, expressions);
      return checkTree(tree, text, { takesDefault });
    });
    const tables = inCallersText(facts.tables, text, (at) => origin(place(at)));
    const rowIds =
      facts.rowIds === undefined ? {} : { rowIds: { edits: text === sql ? edits(sql, facts.rowIds) : undefined } };
    return { sql, start: origin(0), tables, ...rowIds, ...parametersOf(tree, facts.parameters) };
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
}

async function parse(connection: Connection, sql: string, openPivots: OpenPivots): Promise<ParsedText> {
  const { tree, text } = await parseEnums(connection, sql);
  if (tree === undefined) return await parseOpenPivot(connection, sql, openPivots);
  return { tree, text, place: (at) => at };
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
async function parseOpenPivot(connection: Connection, sql: string, openPivots: OpenPivots): Promise<ParsedText> {
  const tokens = tokenize(sql);
  const places = openPivot(tokens);
  if (places === undefined && !/pivot/i.test(sql)) throw otherStatement();
  if (places === undefined || openPivots === 'refused') throw innerPivot();
  const parameter = tokens.find(({ kind }) => kind === 'parameter');
  if (parameter !== undefined) {
    throw new AppError('sql_error', 'a PIVOT with parameters must list its values', {
      hint: 'write PIVOT … ON column IN (…)',
      position: parameter.start,
    });
  }
  const text = withValues(sql, places);
  const tree = await parseTree(connection, text);
  if (tree === undefined) throw innerPivot();
  return { tree, text, place: (at) => placeWithoutValues(at, places) };
}

function innerPivot(): AppError {
  return new AppError('sql_forbidden', 'a PIVOT inside of a query must list its values', {
    hint: 'write PIVOT … ON column IN (…), or make it a statement of its own',
  });
}

function otherStatement(): AppError {
  return new AppError('sql_forbidden', 'this kind of statement is not allowed', {
    position: 0,
    hint: 'allowed are queries, CREATE TABLE … AS, INSERT INTO, DROP TABLE, SHOW TABLES, DESCRIBE and EXPLAIN',
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
