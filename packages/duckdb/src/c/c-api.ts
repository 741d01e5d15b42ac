import koffi from 'koffi';
import { loadDuckDb, loadLibc } from './native-library.ts';

const duckdb = loadDuckDb();
const libc = loadLibc();

/** A native pointer. DuckDB's handles are pointers too. */
export type Pointer = bigint;

/** `duckdb_result` is six 8-byte fields that we pass on and never look into. */
export type ResultStruct = Record<string, unknown>;

koffi.struct('duckdb_result', { f0: 'uint64', f1: 'uint64', f2: 'uint64', f3: 'uint64', f4: 'uint64', f5: 'uint64' });

export type Out = [Pointer | number];
export const bind = <F>(signature: string): F => duckdb.func(signature) as unknown as F;

/** A function that can also run on the thread pool, so that the event loop stays free. */
export type Blocking<A extends unknown[], R> = ((...args: A) => R) & {
  async(...args: [...A, (error: unknown, result: R) => void]): void;
};

export const api = {
  createConfig: bind<(out: Out) => number>('int duckdb_create_config(_Out_ uint64* out)'),
  setConfig: bind<(config: Pointer, name: string, value: string) => number>(
    'int duckdb_set_config(uint64 config, const char* name, const char* value)',
  ),
  open: bind<(path: string, db: Out, config: Pointer, error: [string | null]) => number>(
    'int duckdb_open_ext(const char* path, _Out_ uint64* db, uint64 config, _Out_ char** error)',
  ),
  connect: bind<(db: Pointer, out: Out) => number>('int duckdb_connect(uint64 db, _Out_ uint64* out)'),
  disconnect: bind<(connection: [Pointer]) => void>('void duckdb_disconnect(_Inout_ uint64* connection)'),
  query: bind<(connection: Pointer, sql: string, result: null) => number>(
    'int duckdb_query(uint64 connection, const char* sql, void* result)',
  ),
  interrupt: bind<(connection: Pointer) => void>('void duckdb_interrupt(uint64 connection)'),
  prepare: bind<Blocking<[connection: Pointer, sql: string, out: Out], number>>(
    'int duckdb_prepare(uint64 connection, const char* sql, _Out_ uint64* out)',
  ),
  extractStatements: bind<Blocking<[connection: Pointer, sql: string, out: Out], number>>(
    'uint64 duckdb_extract_statements(uint64 connection, const char* sql, _Out_ uint64* out)',
  ),
  prepareExtracted: bind<Blocking<[connection: Pointer, statements: Pointer, index: number, out: Out], number>>(
    'int duckdb_prepare_extracted_statement(uint64 connection, uint64 statements, uint64 index, _Out_ uint64* out)',
  ),
  destroyExtracted: bind<(statements: [Pointer]) => void>('void duckdb_destroy_extracted(_Inout_ uint64* statements)'),
  prepareError: bind<(statement: Pointer) => string | null>('const char* duckdb_prepare_error(uint64 statement)'),
  preparedColumnCount: bind<(statement: Pointer) => number>(
    'uint64 duckdb_prepared_statement_column_count(uint64 statement)',
  ),
  preparedColumnType: bind<(statement: Pointer, index: number) => Pointer>(
    'uint64 duckdb_prepared_statement_column_logical_type(uint64 statement, uint64 index)',
  ),
  statementType: bind<(statement: Pointer) => number>('int duckdb_prepared_statement_type(uint64 statement)'),
  parameterCount: bind<(statement: Pointer) => number>('uint64 duckdb_nparams(uint64 statement)'),
  parameterType: bind<(statement: Pointer, index: number) => Pointer>(
    'uint64 duckdb_param_logical_type(uint64 statement, uint64 index)',
  ),
  preparedColumnName: bind<(statement: Pointer, index: number) => string>(
    'const char* duckdb_prepared_statement_column_name(uint64 statement, uint64 index)',
  ),
  destroyPrepare: bind<(statement: [Pointer]) => void>('void duckdb_destroy_prepare(_Inout_ uint64* statement)'),
  pendingStreaming: bind<(statement: Pointer, out: Out) => number>(
    'int duckdb_pending_prepared_streaming(uint64 statement, _Out_ uint64* out)',
  ),
  /** Its result is not streamed: at the end of the work, all rows are there. */
  pendingWhole: bind<(statement: Pointer, out: Out) => number>(
    'int duckdb_pending_prepared(uint64 statement, _Out_ uint64* out)',
  ),
  pendingError: bind<(pending: Pointer) => string | null>('const char* duckdb_pending_error(uint64 pending)'),
  executeTask: bind<(pending: Pointer) => number>('int duckdb_pending_execute_task(uint64 pending)'),
  executePending: bind<Blocking<[pending: Pointer, out: ResultStruct], number>>(
    'int duckdb_execute_pending(uint64 pending, _Out_ duckdb_result* out)',
  ),
  destroyPending: bind<(pending: [Pointer]) => void>('void duckdb_destroy_pending(_Inout_ uint64* pending)'),
  resultError: bind<(result: ResultStruct) => string | null>('const char* duckdb_result_error(duckdb_result* result)'),
  destroyResult: bind<(result: ResultStruct) => void>('void duckdb_destroy_result(_Inout_ duckdb_result* result)'),
  columnCount: bind<(result: ResultStruct) => number>('uint64 duckdb_column_count(duckdb_result* result)'),
  columnName: bind<(result: ResultStruct, index: number) => string>(
    'const char* duckdb_column_name(duckdb_result* result, uint64 index)',
  ),
  columnLogicalType: bind<(result: ResultStruct, index: number) => Pointer>(
    'uint64 duckdb_column_logical_type(duckdb_result* result, uint64 index)',
  ),
  fetchChunk: bind<Blocking<[result: ResultStruct], Pointer>>('uint64 duckdb_fetch_chunk(duckdb_result result)'),
  chunkSize: bind<(chunk: Pointer) => number>('uint64 duckdb_data_chunk_get_size(uint64 chunk)'),
  destroyChunk: bind<(chunk: [Pointer]) => void>('void duckdb_destroy_data_chunk(_Inout_ uint64* chunk)'),

  arrowOptions: bind<(connection: Pointer, out: Out) => void>(
    'void duckdb_connection_get_arrow_options(uint64 connection, _Out_ uint64* out)',
  ),
  destroyArrowOptions: bind<(options: [Pointer]) => void>('void duckdb_destroy_arrow_options(_Inout_ uint64* options)'),
  chunkToArrow: bind<(options: Pointer, chunk: Pointer, out: Uint8Array) => Pointer>(
    'uint64 duckdb_data_chunk_to_arrow(uint64 options, uint64 chunk, void* out)',
  ),
  errorMessage: bind<(error: Pointer) => string>('const char* duckdb_error_data_message(uint64 error)'),
  destroyError: bind<(error: [Pointer]) => void>('void duckdb_destroy_error_data(_Inout_ uint64* error)'),

  typeId: bind<(type: Pointer) => number>('int duckdb_get_type_id(uint64 type)'),
  typeAlias: bind<(type: Pointer) => string | null>('const char* duckdb_logical_type_get_alias(uint64 type)'),
  destroyType: bind<(type: [Pointer]) => void>('void duckdb_destroy_logical_type(_Inout_ uint64* type)'),
  decimalWidth: bind<(type: Pointer) => number>('uint8 duckdb_decimal_width(uint64 type)'),
  decimalScale: bind<(type: Pointer) => number>('uint8 duckdb_decimal_scale(uint64 type)'),
  listChild: bind<(type: Pointer) => Pointer>('uint64 duckdb_list_type_child_type(uint64 type)'),
  arrayChild: bind<(type: Pointer) => Pointer>('uint64 duckdb_array_type_child_type(uint64 type)'),
  arraySize: bind<(type: Pointer) => number>('uint64 duckdb_array_type_array_size(uint64 type)'),
  mapKey: bind<(type: Pointer) => Pointer>('uint64 duckdb_map_type_key_type(uint64 type)'),
  mapValue: bind<(type: Pointer) => Pointer>('uint64 duckdb_map_type_value_type(uint64 type)'),
  structCount: bind<(type: Pointer) => number>('uint64 duckdb_struct_type_child_count(uint64 type)'),
  structName: bind<(type: Pointer, index: number) => string>(
    'const char* duckdb_struct_type_child_name(uint64 type, uint64 index)',
  ),
  structChild: bind<(type: Pointer, index: number) => Pointer>(
    'uint64 duckdb_struct_type_child_type(uint64 type, uint64 index)',
  ),
  enumSize: bind<(type: Pointer) => number>('uint32 duckdb_enum_dictionary_size(uint64 type)'),
  /** To be freed. */
  enumValue: bind<(type: Pointer, index: number) => Pointer | number>(
    'uint64 duckdb_enum_dictionary_value(uint64 type, uint64 index)',
  ),
  free: bind<(memory: Pointer) => void>('void duckdb_free(uint64 memory)'),
  unionCount: bind<(type: Pointer) => number>('uint64 duckdb_union_type_member_count(uint64 type)'),
  unionName: bind<(type: Pointer, index: number) => string>(
    'const char* duckdb_union_type_member_name(uint64 type, uint64 index)',
  ),
  unionChild: bind<(type: Pointer, index: number) => Pointer>(
    'uint64 duckdb_union_type_member_type(uint64 type, uint64 index)',
  ),
};

/** The most rows of a chunk in DuckDB. */
export const vectorRows = 2048;

/** Copies memory between addresses. koffi's own views cost about 8 µs each, this well under one. */
export const copyMemory = libc.func('void memcpy(uint64 to, uint64 from, size_t bytes)') as unknown as (
  to: number,
  from: number,
  bytes: number,
) => void;

const syncFileRange =
  process.platform === 'linux'
    ? (libc.func('int sync_file_range(int file, int64 from, int64 bytes, uint flags)') as unknown as Blocking<
        [file: number, from: number, bytes: number, flags: number],
        number
      >)
    : undefined;
const SYNC_FILE_RANGE_WRITE = 2;

/** Starts the write-out of a file's bytes to the disk (Linux). The next fsync reports its errors. */
export async function startWriteOut(file: number): Promise<void> {
  if (syncFileRange !== undefined) await offLoop(syncFileRange, file, 0, 0, SYNC_FILE_RANGE_WRITE);
}

const releaseProto = koffi.proto('void ArrowRelease(void* array)');
const releaseFunctions = new Map<Pointer, (array: Uint8Array) => void>();

/** Calls an Arrow struct's own release function. */
export function releaseArrow(struct: Uint8Array, release: Pointer): void {
  let call = releaseFunctions.get(release);
  if (call === undefined) {
    call = koffi.decode(release, releaseProto) as (array: Uint8Array) => void;
    releaseFunctions.set(release, call);
  }
  call(struct);
}

/** Runs a blocking call on the thread pool. */
export function offLoop<A extends unknown[], R>(call: Blocking<A, R>, ...args: A): Promise<R> {
  return new Promise((resolve, reject) => {
    call.async(...args, (error, result) => (error ? reject(error) : resolve(result)));
  });
}

/** A value that koffi gives as a number when it is small and as a bigint otherwise. */
export function pointer(value: Pointer | number): Pointer {
  return BigInt(value);
}

const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9;
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;

/**
 * Linux only: the kernel kills this process when its parent dies in any way, and denies it memory beyond `maxBytes`
 * (DuckDB's own memory_limit covers its buffers alone, not the allocations of functions).
 */
export function restrictProcess(maxBytes: number): void {
  if (process.platform !== 'linux') return;
  const prctl = libc.func('int prctl(int option, uint64 a, uint64 b, uint64 c, uint64 d)');
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  const setrlimit = libc.func('int setrlimit(int resource, void* limit)');
  const limit = (bytes: number): Uint8Array =>
    new Uint8Array(new BigUint64Array([BigInt(bytes), BigInt(bytes)]).buffer);
  setrlimit(RLIMIT_DATA, limit(maxBytes));
  setrlimit(RLIMIT_CORE, limit(0));
}
