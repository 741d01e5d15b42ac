import { AppError } from '../../../core/app-error.ts';
import type { Query } from '../../../core/sql.ts';
import type { Connection } from '../worker/session.ts';
import { checkTree, type TreeFacts } from './check-tree.ts';
import { openPivot, withValues } from './open-pivot.ts';
import { parseTree, type TreeNode } from './parse-tree.ts';
import { offsetOfByte } from './text-position.ts';
import { tokenize } from './tokenizer.ts';

/** Where an offset in a text stands in the caller's text. */
export type Origin = (offset: number) => number;

/** What a PIVOT without a list of its values is: a query whose values DuckDB looks up itself, or not allowed. */
export type OpenPivots = 'allowed' | 'refused';

export type GateText = (sql: string, origin: Origin, openPivots?: OpenPivots) => Promise<Query>;

/** Checks the text of a query; what it gives is exactly that text. */
export async function gateQuery(
  connection: Connection,
  sql: string,
  origin: Origin,
  openPivots: OpenPivots = 'allowed',
): Promise<Query> {
  try {
    const tree = (await parseTree(connection, sql)) ?? (await parseOpenPivot(connection, sql, openPivots));
    const facts = inCharacters(sql, () => checkTree(tree));
    return { sql, tables: facts.tables, parameterCount: parameterCount(facts.parameters) };
  } catch (error) {
    throw error instanceof AppError && error.position !== undefined
      ? movedTo(error, Math.max(0, origin(error.position)))
      : error;
  }
}

/** Checks a PIVOT without values as the same with one: what is put in holds no quote and no comment. */
async function parseOpenPivot(connection: Connection, sql: string, openPivots: OpenPivots): Promise<TreeNode> {
  const tokens = tokenize(sql);
  const pivot = openPivot(sql, tokens);
  if (pivot === undefined && !/pivot/i.test(sql)) throw otherStatement();
  if (pivot === undefined || openPivots === 'refused') throw innerPivot();
  const parameter = tokens.find(({ kind }) => kind === 'parameter');
  if (parameter !== undefined) {
    throw new AppError('sql_error', 'a PIVOT with parameters must list its values', {
      hint: 'write PIVOT … ON column IN (…)',
      position: parameter.start,
    });
  }
  const lists = pivot.columns.map(() => ['0']);
  const tree = await parseTree(connection, withValues(sql, pivot, lists));
  if (tree === undefined) throw innerPivot();
  return tree;
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

function parameterCount(parameters: ReadonlySet<string>): number {
  for (const name of parameters) {
    if (!/^[0-9]+$/.test(name)) {
      throw new AppError('sql_error', `parameter $${name} has a name, which is not supported`, {
        hint: 'write ? or $1, $2, …',
      });
    }
  }
  for (let number = 1; number <= parameters.size; number++) {
    if (!parameters.has(String(number))) {
      throw new AppError('sql_error', `parameter $${number} is missing`, {
        hint: 'number parameters from $1 without gaps',
      });
    }
  }
  return parameters.size;
}

function inCharacters(sql: string, check: () => TreeFacts): TreeFacts {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError) || error.position === undefined) throw error;
    throw movedTo(error, offsetOfByte(sql, error.position));
  }
}

function movedTo({ code, message, hint, cause }: AppError, position: number): AppError {
  return new AppError(code, message, {
    position,
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  });
}
