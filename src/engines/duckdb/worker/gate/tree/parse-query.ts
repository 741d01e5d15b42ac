import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import { editedText, type SourceText } from '../../../../../core/text/source-text.ts';
import { tokenize } from '../text/tokenizer.ts';
import { withoutEnums } from './inner-enums.ts';
import { openPivots } from './open-pivot.ts';
import { parseTree, placeNodes, type TreeNode } from './parse-tree.ts';

/** A parsed query. Its nodes have their places in the text of the query, also where DuckDB has parsed a similar one. */
export interface ParsedQuery {
  readonly tree: TreeNode;
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

export async function parseQuery(connection: Connection, sql: string): Promise<ParsedQuery> {
  const tree = await parseEnums(connection, sql);
  return tree === undefined ? await parseOpenPivots(connection, sql) : { tree, isPivoted: false };
}

/** Parses a text with an ENUM inside another type as the same with another type there. */
async function parseEnums(connection: Connection, sql: string): Promise<TreeNode | undefined> {
  try {
    return await parseTree(connection, sql);
  } catch (error) {
    if (!(error instanceof AppError) || !error.message.startsWith('Cannot serialize non-constant type')) throw error;
    const text = withoutEnums(sql);
    if (text === sql) throw error;
    return await parseTree(connection, text);
  }
}

/** Parses a PIVOT without values as the same PIVOT with one: the inserted text holds no quote and no comment. */
async function parseOpenPivots(connection: Connection, sql: string): Promise<ParsedQuery> {
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
  const tree = await movingErrors(text, () => parseEnums(connection, text.sql));
  if (tree === undefined) throw computedPivot();
  placeNodes(tree, (at) => text.nearest(at));
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
