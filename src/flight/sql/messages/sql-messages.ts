import {
  bool,
  bytes,
  int32,
  message,
  nested,
  optionalBool,
  optionalBytes,
  optionalString,
  repeated,
  string,
  strings,
  uint32s,
  varintField,
} from '@framehold/grpc';

// Field numbers are those of FlightSql.proto.

export const CommandGetSqlInfo = message({ info: uint32s(1) });
/** 0 when absent, which is also ODBC's way of asking for all types. */
export const CommandGetXdbcTypeInfo = message({ dataType: int32(1) });
export const CommandGetDbSchemas = message({ catalog: optionalString(1), schemaPattern: optionalString(2) });
export const CommandGetTables = message({
  catalog: optionalString(1),
  schemaPattern: optionalString(2),
  tablePattern: optionalString(3),
  tableTypes: strings(4),
  includeSchema: bool(5),
});
/** For CommandGetPrimaryKeys, CommandGetExportedKeys and CommandGetImportedKeys. */
export const CommandGetKeys = message({ catalog: optionalString(1), schema: optionalString(2), table: string(3) });
export const CommandGetCrossReference = message({
  pkCatalog: optionalString(1),
  pkSchema: optionalString(2),
  pkTable: string(3),
  fkCatalog: optionalString(4),
  fkSchema: optionalString(5),
  fkTable: string(6),
});

/** For CommandStatementQuery, CommandStatementUpdate and ActionCreatePreparedStatementRequest. */
export const StatementText = message({ query: string(1), transactionId: optionalBytes(2) });
export type StatementText = ReturnType<typeof StatementText.decode>;
/** For CommandPreparedStatementQuery, CommandPreparedStatementUpdate and ActionClosePreparedStatementRequest. */
export const StatementHandle = message({ handle: bytes(1) });
export const TicketStatementQuery = message({ statementHandle: bytes(1) });

const IngestOption = message({ key: string(1), value: string(2) });
export const CommandStatementIngest = message({
  tableDefinition: nested(1, message({ ifNotExist: int32(1), ifExists: int32(2) })),
  table: string(2),
  schema: optionalString(3),
  catalog: optionalString(4),
  temporary: bool(5),
  transactionId: optionalBytes(6),
  options: repeated(1000, IngestOption),
});
export type Ingest = ReturnType<typeof CommandStatementIngest.decode>;

export const PreparedStatementResult = message({
  handle: bytes(1),
  datasetSchema: bytes(2),
  parameterSchema: bytes(3),
  /** Since Arrow 25; older drivers take an empty dataset_schema for it. */
  isUpdate: optionalBool(4),
});
export const BeginTransactionResult = message({ transactionId: bytes(1) });
export const EndTransactionRequest = message({ transactionId: bytes(1), action: int32(2) });
export const CancelQueryRequest = message({ info: bytes(1) });
export const CancelQueryResult = message({ result: int32(1) });
export const DoPutPreparedStatementResult = message({ handle: bytes(1) });

/** DoPutUpdateResult, never empty: 0 is written too. */
export function updateResult(records: number): Uint8Array {
  return varintField(1, records);
}
