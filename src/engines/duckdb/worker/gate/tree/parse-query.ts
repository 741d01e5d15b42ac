import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { editedText, type SourceText, type TextEdit } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { openPivots } from './open-pivot.ts';
import { parseTree, placeNodes, type TreeNode } from './parse-tree.ts';

/** A parsed query. Its nodes have their places in the text of the query, also where DuckDB has parsed a similar one. */
export interface ParsedQuery {
  readonly tree: TreeNode;
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

export async function parseQuery(connection: Connection, text: SourceText): Promise<ParsedQuery> {
  const tree = await parseEnums(connection, text);
  return tree === undefined ? await parseOpenPivots(connection, text) : { tree, isPivoted: false };
}

/** Parses a text with an ENUM inside another type as the same with another type there. */
async function parseEnums(connection: Connection, text: SourceText): Promise<TreeNode | undefined> {
  try {
    return await parseTree(connection, text.sql);
  } catch (error) {
    if (!(error instanceof AppError) || !error.message.startsWith('Cannot serialize non-constant type')) throw error;
    const others = withoutEnums(text);
    if (others.sql === text.sql) throw error;
    return await parseTree(connection, others.sql);
  }
}

/** As long as the shortest ENUM or shorter. Where no type may be, it is wrong SQL or a function that is not allowed. */
const otherType = 'CHAR(1)';

/**
 * The text with another type in place of each ENUM('…', …), all other text unmoved. DuckDB cannot give the parse tree of a
 * type that has an ENUM inside. Only string literals are lost, and no function of this name exists.
 */
function withoutEnums(text: SourceText): SourceText {
  const { tokens } = text;
  const edits = tokens.flatMap((token, index): readonly TextEdit[] => {
    const close = token.word === 'enum' ? closeOfTexts(tokens, index + 1) : undefined;
    if (close === undefined) return [];
    const length = close.end - token.start;
    return [{ at: token.start, length, text: otherType.padEnd(length) }];
  });
  return text.edited(edits);
}

/** The parenthesis behind a list of string literals that begins here. */
function closeOfTexts(tokens: readonly Token[], open: number): Token | undefined {
  if (tokens[open]?.text !== '(') return undefined;
  for (let index = open + 1; tokens[index]?.kind === 'string'; index += 2) {
    const next = tokens[index + 1];
    if (next?.text === ')') return next;
    if (next?.text !== ',') return undefined;
  }
  return undefined;
}

/** Parses a PIVOT without values as the same PIVOT with one: the inserted text holds no quote and no comment. */
async function parseOpenPivots(connection: Connection, text: SourceText): Promise<ParsedQuery> {
  const { tokens, sql } = text;
  const edits = openPivots(tokens);
  if (edits.length === 0) throw /pivot/i.test(sql) ? computedPivot() : otherStatement();
  const parameter = tokens.find(({ kind }) => kind === 'parameter');
  if (parameter !== undefined) {
    throw new AppError('sql_error', 'a PIVOT with parameters must list its values', {
      hint: 'write PIVOT … ON column IN (…)',
      position: parameter.start,
    });
  }
  const listed = editedText(sql, edits);
  const tree = await movingErrors(listed, () => parseEnums(connection, listed));
  if (tree === undefined) throw computedPivot();
  placeNodes(tree, (at) => listed.nearest(at));
  return { tree, isPivoted: true };
}

/** Moves the positions of errors to the text before this one. */
export async function movingErrors<T>(text: SourceText, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AppError) || error.position === undefined) throw error;
    throw error.with({ position: text.nearest(error.position) });
  }
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
