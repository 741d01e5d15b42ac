import { AppError } from '../core/app-error.ts';
import type { Column } from '../core/data-type.ts';
import type { EncodedRows, RowChanges } from '../core/frame-engine.ts';
import type { Handle } from '../core/handle.ts';
import type { Principal } from '../core/principal.ts';
import {
  type Change,
  type ChangesTable,
  mergeActionColumn,
  type Query,
  rowNumberColumn,
  type SqlColumn,
  type SqlEngine,
  type SqlJob,
  type SqlRun,
  type TableName,
  targetSchema,
} from '../core/sql.ts';
import { isSameName } from '../core/text/ascii-lower.ts';
import { didYouMeanName } from '../core/text/did-you-mean.ts';
import { viewTaken } from '../frames/catalog/frame-errors.ts';
import type { Frames } from '../frames/frames.ts';
import type { FrameReader } from '../frames/read/frame-reader.ts';
import { definitionsIn } from './definitions-in.ts';
import type { CallOptions, PreparedSql, ReturnedResult, ReturnedRows, SqlUpdate } from './frame-sql.ts';
import { sqlColumns, tableOf } from './frame-tables.ts';
import { errorWritten, namedColumns } from './named-columns.ts';
import { openTables, type TableSources } from './open-tables.ts';

/** What RETURNING gives is held in memory until it is fetched. */
const longestReturned = 64 * 2 ** 20;
/** What happens to a row, where RETURNING does not name it. */
const actionColumn = 'framehold action';

type WithSettings = Pick<SqlJob, 'settings'>;

interface ChangeRun {
  readonly handle: Handle;
  readonly parameters: Uint8Array | undefined;
  readonly returned: ReturnedRows | undefined;
}

interface Returning extends Omit<ChangeRun, 'handle'>, WithSettings {
  readonly returning: Query;
  readonly table: TableName;
  /** Of a file with the rows. */
  readonly path: string;
  /** Columns of the file that are not the frame's. */
  readonly hidden: readonly string[];
}

interface ChangeJob extends WithSettings {
  readonly query: Query;
  readonly into: NonNullable<SqlJob['into']>;
  readonly tables: SqlJob['tables'];
}

interface OpenChange extends ChangeJob, AsyncDisposable {
  /** The same with all rows that it reads. */
  withRows(): Promise<ChangeJob>;
}

/** UPDATE, DELETE and MERGE: a query tells what becomes of which rows, and from that the frame's next version is made. */
export class FrameChanges {
  readonly #engine: SqlEngine;
  readonly #frames: Frames;
  readonly #sources: TableSources;

  constructor(sources: TableSources) {
    this.#engine = sources.engine;
    this.#frames = sources.frames;
    this.#sources = sources;
  }

  async prepare(
    principal: Principal,
    asked: Change & WithSettings,
    handle: Handle,
    options: CallOptions,
  ): Promise<Omit<PreparedSql, 'isUpdate'>> {
    await using reader = await this.#frames.open(principal, handle, options);
    return await this.#withNames(principal, asked, reader, options, (statement) =>
      this.#prepare(principal, statement, reader, options),
    );
  }

  async #prepare(
    principal: Principal,
    statement: Change & WithSettings,
    reader: FrameReader,
    options: CallOptions,
  ): Promise<Omit<PreparedSql, 'isUpdate'>> {
    const { returning, query, table } = statement;
    await using job = await this.#jobOf(principal, statement, reader, options);
    const { parameters } = await this.#engine.describe(job, { ...options, tenant: principal.tenant });
    const action = actionNameOf(statement);
    const columns =
      returning === undefined
        ? []
        : await this.returnedColumns(principal, { returning, table, action }, reader, options);
    return { columns, parameters, parameterNames: query.parameterNames };
  }

  /** Of what RETURNING gives. */
  async returnedColumns(
    { tenant }: Principal,
    { returning, table, action }: { readonly returning: Query; readonly table: TableName; readonly action?: string },
    reader: FrameReader,
    options: CallOptions,
  ): Promise<readonly Column[]> {
    const frame = await tableOf(reader, tenant, { name: table.name, schema: targetSchema });
    // As they are stored, which is what the file of the rows has.
    const stored = { ...frame, readAs: undefined };
    // Any column will do: the query makes a text of it.
    const rows = action === mergeActionColumn ? { ...stored, rowNumbers: action } : stored;
    return (await this.#engine.describe({ query: returning, tables: [rows] }, { ...options, tenant })).columns;
  }

  /** Once: rejects with `frame_changed` where another change of the frame came between. */
  async change(
    principal: Principal,
    asked: Change & WithSettings,
    run: ChangeRun,
    options: CallOptions,
  ): Promise<SqlUpdate> {
    await using reader = await this.#frames.open(principal, run.handle, options);
    return await this.#withNames(principal, asked, reader, options, (statement) =>
      this.#change(principal, statement, reader, run, options),
    );
  }

  async #change(
    principal: Principal,
    statement: Change & WithSettings,
    reader: FrameReader,
    { handle, ...request }: ChangeRun,
    options: CallOptions,
  ): Promise<SqlUpdate> {
    const { table, returning } = statement;
    await using job = await this.#jobOf(principal, statement, reader, options);
    const whole = await job.withRows();
    const run = { ...whole, parameters: request.parameters, form: 'arrow', isKept: true } as const;
    await using staged = await this.stage(principal, run, options);
    const { rows, path } = staged;
    const action = actionNameOf(statement);
    const hidden = action === mergeActionColumn ? [rowNumberColumn] : [rowNumberColumn, action];
    const returned =
      returning &&
      (await this.returned(
        principal,
        { ...request, returning, table, path, hidden, settings: statement.settings },
        options,
      ));
    if (rows === 0) return { rows, hasChanged: false, returned };
    const changes: RowChanges = { path, set: valuePositions(statement, reader.columns) };
    await this.#frames.change(
      principal,
      { handle, lineage: reader.lineage, definition: reader.definition, changes },
      options,
    );
    return { rows, hasChanged: true, returned };
  }

  /** The rows of a query, in a file that the caller's statements can read. */
  async stage(
    principal: Principal,
    run: SqlRun,
    options: CallOptions,
  ): Promise<AsyncDisposable & { readonly rows: number; readonly path: string }> {
    await using result = await this.#engine.run(run, { ...options, tenant: principal.tenant });
    const source = { kind: 'arrow', stream: result.arrowStream() } as const;
    const file = await this.#frames.writeParquet(principal, { source, isForStatements: true }, options);
    return { ...file, rows: result.totalRows };
  }

  /** The rows of RETURNING, over the rows of a file. */
  async returned(
    principal: Principal,
    { returning: query, table, path, hidden, settings, parameters, returned = { form: 'arrow' } }: Returning,
    options: CallOptions,
  ): Promise<ReturnedResult> {
    const rowsTable: ChangesTable = { kind: 'changes', name: table.name, schema: targetSchema, path, hidden };
    const run = {
      ...returned,
      query,
      settings,
      tables: [rowsTable],
      parameters: query.parameterCount === 0 ? undefined : parameters,
    };
    await using result = await this.#engine.run(run, { ...options, tenant: principal.tenant });
    const rows: EncodedRows[] = [];
    let bytes = 0;
    for await (const piece of result.rows()) {
      bytes += piece.bytes.length;
      if (bytes > longestReturned) throw tooMuchReturned();
      // A piece need not hold for longer than until the next one is asked for.
      rows.push({ rows: piece.rows, bytes: piece.bytes.slice(), rowEnds: piece.rowEnds.slice() });
    }
    return resultOf(result.columns, rows, result.totalRows);
  }

  /** Uses the statement with the names of its columns. */
  async #withNames<T>(
    principal: Principal,
    statement: Change & WithSettings,
    reader: FrameReader,
    options: CallOptions,
    use: (named: Change & WithSettings) => Promise<T>,
  ): Promise<T> {
    const { unnamed, settings } = statement;
    if (unnamed === undefined) return await use(statement);
    if (reader.view !== undefined) throw viewTaken(reader.handle);
    const job = { ...options, tenant: principal.tenant };
    const { source: query } = unnamed;
    const given = await (async (): Promise<readonly Column[]> => {
      await using opened = await openTables(this.#sources, principal, query, options);
      return (await this.#engine.describe({ query, tables: opened.tables, settings }, job)).columns;
    })();
    const target = reader.columns.map(({ name }) => name);
    const { sql, written } = namedColumns(unnamed, { target, source: given.map(({ name }) => name) });
    try {
      const definitions = await definitionsIn(this.#frames, principal, sql, options.temporary);
      const named = await this.#engine.analyze(sql, { ...job, definitions });
      if (named.kind !== 'change') throw new AppError('internal', 'a MERGE with the names of its columns is none');
      return await use({ ...named, settings });
    } catch (error) {
      throw errorWritten(error, written);
    }
  }

  async #jobOf(
    principal: Principal,
    statement: Change & WithSettings,
    reader: FrameReader,
    options: CallOptions,
  ): Promise<OpenChange> {
    const { query, table, set, isWhole, settings, verb } = statement;
    const { columns, handle, constraints } = reader;
    if (reader.view !== undefined) throw viewTaken(handle);
    if (verb !== 'delete' && (constraints?.generated.length ?? 0) > 0) throw hasGenerated(handle);
    const action = actionNameOf(statement);
    assertColumns(statement, columns, handle);
    const target = await tableOf(reader, principal.tenant, { name: table.name, schema: targetSchema });
    const opened = await openTables(this.#sources, principal, query, options);
    const given = set.filter(({ isDefault }) => !isDefault);
    const all = sqlColumns(reader);
    const values = valuePositions({ set, isWhole }, columns).map((index) => all[index] as SqlColumn);
    const isDefault = ({ name }: Column): boolean => set.some((each) => each.isDefault && isSameName(each.name, name));
    const names = isWhole ? values.filter((column) => !isDefault(column)) : given;
    const named = [rowNumberColumn, action, ...names.map(({ name }) => name)];
    const hasDefaults = given.length < set.length;
    const rows = { ...target, rowNumbers: rowNumberColumn };
    const job: ChangeJob = {
      query,
      into: {
        columns: [
          { name: rowNumberColumn, type: { kind: 'int', bits: 64, signed: true } },
          { name: action, type: { kind: 'utf8' } },
          ...values,
        ],
        named: isWhole && !hasDefaults ? undefined : named,
        // Rows that go are held against nothing.
        constraints: verb === 'delete' ? undefined : constraints,
      },
      settings,
      tables: [...opened.described, rows],
    };
    return {
      ...job,
      async withRows() {
        const tables = await opened.withRows(job, [rows]);
        return { ...job, tables: [...tables, rows] };
      },
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  }
}

/** Of the columns whose values a change gives, in order. */
function valuePositions({ set, isWhole }: Pick<Change, 'set' | 'isWhole'>, columns: readonly Column[]): number[] {
  if (isWhole) return columns.map((_, index) => index);
  return set.map(({ name }) => columns.findIndex((column) => isSameName(column.name, name)));
}

function actionNameOf({ verb, returning }: Change): string {
  return verb === 'merge' && returning?.sql.includes(mergeActionColumn) === true ? mergeActionColumn : actionColumn;
}

function assertColumns(statement: Change & WithSettings, columns: readonly Column[], handle: Handle): void {
  const { set } = statement;
  const names = columns.map(({ name }) => name);
  const own = names.find((name) => [rowNumberColumn, actionNameOf(statement)].includes(name.toLowerCase()));
  if (own !== undefined) {
    throw new AppError('sql_error', `the column ${JSON.stringify(own)} of ${handle} has a name that changes need`, {
      hint: 'give it another one: CREATE OR REPLACE TABLE … AS SELECT … AS other',
    });
  }
  for (const { name, position } of set) {
    if (names.some((each) => isSameName(each, name))) continue;
    const suggestion = didYouMeanName(name, names);
    throw new AppError('sql_error', `column ${JSON.stringify(name)} not found in ${handle}${suggestion}`, { position });
  }
}

function resultOf(columns: readonly Column[], whole: readonly EncodedRows[], totalRows: number): ReturnedResult {
  async function* rows(): AsyncGenerator<EncodedRows, void, undefined> {
    yield* whole;
  }
  return {
    columns,
    whole,
    rows,
    totalRows,
    [Symbol.asyncDispose]: async () => {},
  };
}

function hasGenerated(handle: Handle): AppError {
  return new AppError('sql_forbidden', `${handle} has generated columns: its rows cannot be changed in place`, {
    hint: 'delete rows and insert others, or drop the generated columns',
  });
}

function tooMuchReturned(): AppError {
  return new AppError('too_large', `RETURNING gives more than ${longestReturned} bytes; nothing was changed`, {
    hint: 'return fewer columns, or change fewer rows at once',
  });
}
