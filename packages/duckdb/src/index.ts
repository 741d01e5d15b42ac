export { TableAppender } from './append/table-appender.ts';
export { restrictProcess, startWriteOut, vectorRows } from './c/c-api.ts';
export { DuckDbError } from './c/duckdb-error.ts';
export { loadLibc } from './c/native-library.ts';
export type { QueryResult } from './read/query-result.ts';
export { landlockVersion, type ReachableFiles, restrictFiles } from './restrict-files.ts';
export { Connection, type DatabaseOptions, PreparedStatement, Session, type StatementColumn } from './session.ts';
export { duckdbType, nestedTypes } from './types/duckdb-types.ts';
export { UnreadableType } from './types/logical-type.ts';
