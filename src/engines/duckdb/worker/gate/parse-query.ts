import { AppError } from '../../../../core/app-error.ts';
import type { Connection } from '../native/session.ts';
import { withoutEnums } from './inner-enums.ts';
import { openPivots } from './open-pivot.ts';
import { parseTree, type TreeNode } from './parse-tree.ts';
import { editedText, placeWithoutEdits } from './text-edits.ts';
import type { Origin } from './text-position.ts';
import { tokenize } from './tokenizer.ts';

/** What was parsed, and where its offsets stand in the text of the query. */
export interface ParsedQuery {
  readonly tree: TreeNode;
  readonly text: string;
  readonly place: Origin;
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

export async function parseQuery(connection: Connection, sql: string): Promise<ParsedQuery> {
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
  const { tree } = await parseEnums(connection, text);
  if (tree === undefined) throw computedPivot();
  return { tree, text, place: (at) => placeWithoutEdits(at, edits), isPivoted: true };
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
