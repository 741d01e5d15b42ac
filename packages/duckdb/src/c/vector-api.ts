import koffi from 'koffi';
import { type Blocking, bind, type Out, type Pointer } from './c-api.ts';

/** An address as a plain number, which is much cheaper than a bigint; user space ends below 2^53. */
export type Address = number;

export const vectorApi = {
  createAppender: bind<(connection: Pointer, catalog: string, schema: string, table: string, out: Out) => number>(
    'int duckdb_appender_create_ext(uint64 connection, const char* catalog, const char* schema, const char* table, _Out_ uint64* out)',
  ),
  appenderError: bind<(appender: Pointer) => string | null>('const char* duckdb_appender_error(uint64 appender)'),
  appenderColumnType: bind<(appender: Pointer, index: number) => Pointer | number>(
    'uint64 duckdb_appender_column_type(uint64 appender, uint64 index)',
  ),
  appendChunk: bind<Blocking<[appender: Pointer, chunk: Pointer], number>>(
    'int duckdb_append_data_chunk(uint64 appender, uint64 chunk)',
  ),
  closeAppender: bind<Blocking<[appender: Pointer], number>>('int duckdb_appender_close(uint64 appender)'),
  clearAppender: bind<(appender: Pointer) => number>('int duckdb_appender_clear(uint64 appender)'),
  destroyAppender: bind<(appender: [Pointer]) => number>('int duckdb_appender_destroy(_Inout_ uint64* appender)'),

  createChunk: bind<(types: BigUint64Array, count: number) => Pointer | number>(
    'uint64 duckdb_create_data_chunk(uint64* types, uint64 count)',
  ),
  resetChunk: bind<(chunk: Pointer) => void>('void duckdb_data_chunk_reset(uint64 chunk)'),
  setChunkSize: bind<(chunk: Pointer, rows: number) => void>(
    'void duckdb_data_chunk_set_size(uint64 chunk, uint64 rows)',
  ),
  chunkVector: bind<(chunk: Pointer, index: number) => Address>(
    'uint64 duckdb_data_chunk_get_vector(uint64 chunk, uint64 index)',
  ),

  data: bind<(vector: Address) => Address>('uint64 duckdb_vector_get_data(uint64 vector)'),
  makeValidity: bind<(vector: Address) => void>('void duckdb_vector_ensure_validity_writable(uint64 vector)'),
  validity: bind<(vector: Address) => Address>('uint64 duckdb_vector_get_validity(uint64 vector)'),
  listChild: bind<(vector: Address) => Address>('uint64 duckdb_list_vector_get_child(uint64 vector)'),
  listSize: bind<(vector: Address) => number | bigint>('uint64 duckdb_list_vector_get_size(uint64 vector)'),
  reserveList: bind<(vector: Address, elements: number) => number>(
    'int duckdb_list_vector_reserve(uint64 vector, uint64 elements)',
  ),
  setListSize: bind<(vector: Address, elements: number) => number>(
    'int duckdb_list_vector_set_size(uint64 vector, uint64 elements)',
  ),
  structChild: bind<(vector: Address, index: number) => Address>(
    'uint64 duckdb_struct_vector_get_child(uint64 vector, uint64 index)',
  ),
  arrayChild: bind<(vector: Address) => Address>('uint64 duckdb_array_vector_get_child(uint64 vector)'),
};

const addresses = new WeakMap<ArrayBufferLike, Address>();

/** Address of our bytes. Memory outside V8's heap does not move; the caller keeps it referenced while it is used. */
export function addressOf(bytes: Uint8Array): Address {
  let base = addresses.get(bytes.buffer);
  if (base === undefined) {
    base = Number(koffi.address(bytes.buffer));
    addresses.set(bytes.buffer, base);
  }
  return base + bytes.byteOffset;
}
