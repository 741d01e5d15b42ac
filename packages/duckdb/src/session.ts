import type { Column, DataType, DeclaredType } from '@framehold/columns';
import { api, offLoop, type Pointer, pointer, type ResultStruct } from './c/c-api.ts';
import { DuckDbError } from './c/duckdb-error.ts';
import { type ChunksThere, QueryResult } from './read/query-result.ts';
import { ShortStatement } from './short-statement.ts';
import { nestedTypes } from './types/duckdb-types.ts';
import { takeDeclaredType, takeType, UnreadableType } from './types/logical-type.ts';

export interface DatabaseOptions {
  readonly threads: number;
  readonly memoryBytes: number;
  /** Folder for sorts and tables larger than memory; made on first use. */
  readonly tempDirectory: string;
  readonly maxTempBytes: number;
  /**
   * Keeps read parts of files in DuckDB's own memory. Good for queries that read the same columns again; otherwise the
   * system's cache serves all workers together.
   */
  readonly keepsFiles?: boolean;
}

/** An in-memory DuckDB instance of this process. */
export class Session {
  readonly #database: Pointer;
  readonly #memoryBytes: number;

  constructor(options: DatabaseOptions) {
    this.#memoryBytes = options.memoryBytes;
    const config: [Pointer | number] = [0n];
    api.createConfig(config);
    const settings = {
      threads: String(options.threads),
      memory_limit: `${options.memoryBytes}B`,
      temp_directory: options.tempDirectory,
      enable_external_file_cache: String(options.keepsFiles ?? false),
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
      allow_persistent_secrets: 'false',
    };
    for (const [name, value] of Object.entries(settings)) {
      if (api.setConfig(pointer(config[0]), name, value) !== 0) throw new Error(`DuckDB refuses ${name}=${value}`);
    }
    const database: [Pointer | number] = [0n];
    const error: [string | null] = [null];
    if (api.open(':memory:', database, pointer(config[0]), error) !== 0) {
      throw new Error(`DuckDB does not open: ${error[0]}`);
    }
    this.#database = pointer(database[0]);
    using connection = this.connect();
    // As an option of `open` it is shown, but has no effect.
    const limit = `SET max_temp_directory_size = '${options.maxTempBytes}B'`;
    if (api.query(connection.handle, limit, null) !== 0) throw new Error(`DuckDB refuses ${limit}`);
  }

  connect(): Connection {
    const connection: [Pointer | number] = [0n];
    if (api.connect(this.#database, connection) !== 0) throw new Error('DuckDB gives no connection');
    return new Connection(pointer(connection[0]));
  }

  /**
   * Limits its memory to this share of what it may have. What is beyond is spilled, if it can be, and what DuckDB's allocator keeps
   * of freed memory goes back to the system, also where the limit stays the same.
   */
  limitMemory(share: number): void {
    using connection = this.connect();
    connection.runAtOnce(`SET memory_limit = '${Math.floor(this.#memoryBytes * share)}B'`);
  }
}

const mostTidyAttempts = 5;

/** One connection, one statement at a time: a second stream would silently end the first. */
export class Connection {
  readonly handle: Pointer;
  /** Something was left behind that could not be cleaned up. */
  isSpoilt = false;

  constructor(handle: Pointer) {
    this.handle = handle;
  }

  /** Interrupts the running statement; has no effect on one that has not begun. */
  interrupt(): void {
    api.interrupt(this.handle);
  }

  /** Here and now: a thread of the pool would cost a short statement more than its planning does. */
  async prepare(sql: string): Promise<PreparedStatement> {
    const out: [Pointer | number] = [0n];
    const prepared = api.prepare(this.handle, sql, out);
    return this.#prepared(prepared, pointer(out[0]));
  }

  /**
   * A PIVOT whose columns are not listed is several statements to DuckDB: the first ones are run here. DuckDB wraps an INSERT
   * of such a PIVOT in a transaction, too. That is left out: it would stay open if the INSERT fails or is only planned.
   */
  async preparePivot(sql: string): Promise<PreparedStatement> {
    await this.#dropPivotTypes();
    const extracted: [Pointer | number] = [0n];
    let last = Number(await offLoop(api.extractStatements, this.handle, sql, extracted)) - 1;
    const statements = pointer(extracted[0]);
    try {
      for (let index = 0; ; index++) {
        const out: [Pointer | number] = [0n];
        const prepared = await offLoop(api.prepareExtracted, this.handle, statements, index, out);
        const statement = this.#prepared(prepared, pointer(out[0]));
        if (index >= last) return statement;
        using first = statement;
        if (first.isOfTransactions) {
          // The transaction ends with the last statement.
          last--;
          continue;
        }
        await using result = await first.execute();
        for await (const _ of result.batches());
      }
    } finally {
      api.destroyExtracted([statements]);
    }
  }

  /** Each such PIVOT leaves a type. */
  async #dropPivotTypes(): Promise<void> {
    const types = await this.rows<{ type: string }>(
      `SELECT format('"{}"."{}"."{}"', database_name, schema_name, type_name) AS type
       FROM duckdb_types() WHERE starts_with(type_name, '__pivot_enum_')`,
    );
    for (const { type } of types) await this.run(`DROP TYPE IF EXISTS ${type}`);
  }

  #prepared(code: number, statement: Pointer): PreparedStatement {
    if (code === 0) return new PreparedStatement(this.handle, statement);
    const message = api.prepareError(statement) ?? 'prepare failed';
    api.destroyPrepare([statement]);
    throw new DuckDbError(message);
  }

  /** Starts a statement. The result must be disposed before the next one. */
  async query(sql: string): Promise<QueryResult> {
    using statement = await this.prepare(sql);
    return await statement.execute();
  }

  /** Runs a statement to its end and drops its rows. */
  async run(sql: string): Promise<void> {
    await using result = await this.query(sql);
    for await (const _ of result.batches());
  }

  /** Runs a short statement without rows, with no turn of the event loop. False where it fails. */
  runAtOnce(sql: string): boolean {
    return api.query(this.handle, sql, null) === 0;
  }

  /** Runs a cleanup, also behind a statement that is being cancelled: its interrupts may still arrive. */
  async tidy(sql: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.run(sql);
      } catch (error) {
        if (error instanceof DuckDbError && error.interrupted && attempt < mostTidyAttempts) continue;
        this.isSpoilt = true;
        throw error;
      }
    }
  }

  /** All rows of a small result, as objects made by DuckDB's own JSON. */
  async rows<T>(sql: string): Promise<T[]> {
    await using result = await this.query(`SELECT to_json(r)::VARCHAR FROM (${sql}) AS r`);
    const rows: T[] = [];
    for await (const batch of result.batches()) {
      const texts = batch.vectors[0];
      if (texts?.data == null || texts.offsets === null) continue;
      const bytes = Buffer.from(texts.data.buffer, texts.data.byteOffset, texts.data.byteLength);
      for (let row = 0; row < batch.rows; row++) {
        rows.push(JSON.parse(bytes.toString('utf8', texts.offsets[row], texts.offsets[row + 1])) as T);
      }
    }
    return rows;
  }

  [Symbol.dispose](): void {
    api.disconnect([this.handle]);
  }
}

export class PreparedStatement {
  /** Run times, for a cache of statements. */
  readonly short = new ShortStatement();
  readonly #connection: Pointer;
  readonly #statement: Pointer;
  #resultColumns: readonly Column[] | undefined;

  constructor(connection: Pointer, statement: Pointer) {
    this.#connection = connection;
    this.#statement = statement;
  }

  /** The columns of the result. */
  get columns(): StatementColumn[] {
    return Array.from({ length: Number(api.preparedColumnCount(this.#statement)) }, (_, index) => {
      const type = pointer(api.preparedColumnType(this.#statement, index));
      const typeId = api.typeId(type);
      api.destroyType([type]);
      const nested = nestedTypes.has(typeId)
        ? takeDeclaredType(api.preparedColumnType(this.#statement, index), true)
        : undefined;
      return { name: api.preparedColumnName(this.#statement, index), typeId, nested };
    });
  }

  /** Columns with their types; throws UnreadableType where one is not in our vocabulary. */
  get typedColumns(): Column[] {
    return Array.from({ length: Number(api.preparedColumnCount(this.#statement)) }, (_, index) => ({
      name: api.preparedColumnName(this.#statement, index),
      type: takeType(api.preparedColumnType(this.#statement, index)),
    }));
  }

  /** The type of each column. */
  get declaredTypes(): (DeclaredType | undefined)[] {
    return Array.from({ length: Number(api.preparedColumnCount(this.#statement)) }, (_, index) =>
      takeDeclaredType(api.preparedColumnType(this.#statement, index)),
    );
  }

  /** Kind `null` where the statement does not determine a type. */
  get parameterTypes(): DataType[] {
    return Array.from({ length: this.parameterCount }, (_, index) => {
      const type = pointer(api.parameterType(this.#statement, index + 1));
      return type === 0n ? { kind: 'null' } : readableOr({ kind: 'null' }, () => takeType(type));
    });
  }

  /** BEGIN, COMMIT or ROLLBACK. */
  get isOfTransactions(): boolean {
    return api.statementType(this.#statement) === transactionType;
  }

  get parameterCount(): number {
    return Number(api.parameterCount(this.#statement));
  }

  async execute(): Promise<QueryResult> {
    const pending = this.#start(api.pendingStreaming);
    try {
      const state = workHere(pending, shortMs);
      if (state === pendingState.failed) throw new DuckDbError(api.pendingError(pending) ?? 'execute failed');
      const isShort = state === pendingState.ready;
      const result: ResultStruct = {};
      const executed = isShort
        ? api.executePending(pending, result)
        : await offLoop(api.executePending, pending, result);
      return this.#result(executed, result, isShort ? 'firstChunk' : 'none');
    } finally {
      api.destroyPending([pending]);
    }
  }

  /** The whole result if all of the work is done in a moment; else undefined, and the statement has not begun. */
  executeAtOnce(): QueryResult | undefined {
    const pending = this.#start(api.pendingWhole);
    try {
      if (workHere(pending, atOnceMs) !== pendingState.ready) return undefined;
      const result: ResultStruct = {};
      return this.#result(api.executePending(pending, result), result, 'all');
    } finally {
      api.destroyPending([pending]);
    }
  }

  #start(begin: typeof api.pendingStreaming): Pointer {
    const out: [Pointer | number] = [0n];
    const started = begin(this.#statement, out);
    const pending = pointer(out[0]);
    if (started === 0) return pending;
    const message = api.pendingError(pending) ?? 'execute failed';
    api.destroyPending([pending]);
    throw new DuckDbError(message);
  }

  #result(executed: number, result: ResultStruct, there: ChunksThere): QueryResult {
    if (executed === 0) return this.#opened(result, there);
    const message = api.resultError(result) ?? 'execute failed';
    api.destroyResult(result);
    throw new DuckDbError(message);
  }

  #opened(result: ResultStruct, there: ChunksThere): QueryResult {
    const opened = new QueryResult(this.#connection, result, there, this.#resultColumns);
    this.#resultColumns = opened.columns;
    return opened;
  }

  [Symbol.dispose](): void {
    api.destroyPrepare([this.#statement]);
  }
}

export interface StatementColumn {
  readonly name: string;
  /** As in duckdb_type. */
  readonly typeId: number;
  /** For a nested type, if known: that type. */
  readonly nested?: DeclaredType | undefined;
}

/** As in duckdb_statement_type of DuckDB's C header. */
const transactionType = 10;
/** duckdb_pending_state in DuckDB's C header. */
const pendingState = { ready: 0, notReady: 1, failed: 2, othersWork: 3 } as const;
/** Most time for which a statement may block this process before it continues in a thread of the pool. */
const shortMs = 0.3;
/** A statement that was shorter before may have lost the processor for a while. */
const atOnceMs = 1;

/** Works on a statement for a moment, which is enough for most. */
function workHere(pending: Pointer, mostMs: number): number {
  const until = performance.now() + mostMs;
  let state: number = pendingState.notReady;
  while ((state === pendingState.notReady || state === pendingState.othersWork) && performance.now() < until) {
    state = api.executeTask(pending);
  }
  return state;
}

function readableOr(other: DataType, read: () => DataType): DataType {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableType) return other;
    throw error;
  }
}
