import { AppError } from '../../core/errors/app-error.ts';
import { changeRows, prepareChange, truncate } from '../changes/change-rows.ts';
import type { AnalysedStatement, PreparedSql, SqlUpdate, UpdateRequest } from '../frame-sql.ts';
import { describeQuery } from '../rows/run-query.ts';
import { retried, type StatementRun } from '../statement-run.ts';
import { ofSession } from '../tables/temporary-tables.ts';
import { alterFrame } from './alter-frame.ts';
import { createTable } from './create-table.ts';
import { createView } from './create-view.ts';
import { define, undefine } from './definitions.ts';
import { drop } from './drop.ts';
import { insertRows, prepareInsert } from './insert.ts';

/** A statement that changes frames or definitions. */
export type WriteStatement = Exclude<AnalysedStatement, { kind: 'query' | 'showTables' }>;

interface WriteKind<Of extends WriteStatement> {
  /** Its name in errors. */
  verb(statement: Of): string;
  /** The columns and parameters. Default: none. */
  prepare?(call: StatementRun, statement: Of): Promise<Omit<PreparedSql, 'isUpdate'>>;
  run(call: StatementRun, request: UpdateRequest & { readonly statement: Of }): Promise<SqlUpdate>;
}

type WriteKinds = { readonly [Kind in WriteStatement['kind']]: WriteKind<Extract<WriteStatement, { kind: Kind }>> };

const kinds: WriteKinds = {
  createTable: {
    verb: () => 'CREATE TABLE',
    prepare: async (call, { query, settings, table, isTemporary }) => {
      if (isTemporary) ofSession(call.options.temporary, 'TABLE', table);
      return { ...(await describeQuery(call, { query, settings })), columns: [] };
    },
    run: (call, { statement, parameters }) => createTable(call, statement, parameters),
  },
  createView: {
    verb: () => 'CREATE VIEW',
    prepare: async (call, { query, table, isTemporary }) => {
      if (isTemporary) ofSession(call.options.temporary, 'VIEW', table);
      await describeQuery(call, { query });
      return { columns: [], parameters: [] };
    },
    run: (call, { statement }) => createView(call, statement),
  },
  insert: {
    verb: () => 'INSERT',
    prepare: prepareInsert,
    run: (call, request) => retried(() => insertRows(call, request)),
  },
  change: {
    verb: ({ verb }) => verb.toUpperCase(),
    prepare: prepareChange,
    run: (call, { statement, ...run }) => retried(() => changeRows(call, statement, run)),
  },
  truncate: {
    verb: () => 'a statement that removes all rows',
    run: (call, { statement }) => truncate(call, statement),
  },
  drop: { verb: () => 'DROP', run: (call, { statement }) => drop(call, statement) },
  alter: { verb: () => 'ALTER TABLE', run: (call, { statement }) => alterFrame(call, statement) },
  define: {
    verb: () => 'CREATE',
    run: async (call, { statement }) => ({ rows: 0, hasChanged: await define(call, statement) }),
  },
  undefine: {
    verb: () => 'DROP',
    run: async (call, { statement }) => ({ rows: 0, hasChanged: await undefine(call, statement) }),
  },
};

function kindOf(statement: WriteStatement): WriteKind<WriteStatement> {
  return kinds[statement.kind];
}

/** Its columns and parameters. */
export async function prepareWrite(call: StatementRun, statement: WriteStatement): Promise<PreparedSql> {
  call.frames.assertMayWrite(call.principal);
  const prepared = await kindOf(statement).prepare?.(call, statement);
  return { columns: [], parameters: [], ...prepared, isUpdate: true };
}

export async function runWrite(
  call: StatementRun,
  request: UpdateRequest & { readonly statement: WriteStatement },
): Promise<SqlUpdate> {
  call.frames.assertMayWrite(call.principal);
  return await kindOf(request.statement).run(call, request);
}

/** The error where frames are only read. */
export function changesData(statement: WriteStatement): AppError {
  const verb = kindOf(statement).verb(statement);
  return new AppError('sql_forbidden', `${verb} changes frames, and here they are only read`, {
    hint: 'send it to POST /sql, or over Flight SQL',
  });
}
