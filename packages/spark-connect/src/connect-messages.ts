import {
  bool,
  bytes,
  int32,
  int64,
  map,
  message,
  nested,
  optionalBool,
  optionalInt32,
  optionalString,
  repeated,
  string,
  strings,
  textValue,
} from '@framehold/grpc';

export const connectServiceName = 'spark.connect.SparkConnectService';

const Empty = message({});
const UserContext = message({ userId: string(1), userName: string(2) });

const ReattachOptions = message({ reattachable: bool(1) });
const RequestOption = message({ reattachOptions: nested(1, ReattachOptions) });

/** A plan stays bytes: it is built once and sent as often as it takes. */
export const ExecutePlanRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  plan: bytes(3),
  clientType: string(4),
  requestOptions: repeated(5, RequestOption),
  operationId: string(6),
  tags: strings(7),
  observedSessionId: optionalString(8),
});

const ArrowBatch = message({ rowCount: int64(1), data: bytes(2) });

const StageInfo = message({
  stageId: int64(1),
  numTasks: int64(2),
  numCompletedTasks: int64(3),
  inputBytesRead: int64(4),
  done: bool(5),
});
const ExecutionProgress = message({ stages: repeated(1, StageInfo), numInflightTasks: int64(2) });

export const ExecutePlanResponse = message({
  sessionId: string(1),
  arrowBatch: nested(2, ArrowBatch),
  operationId: string(12),
  responseId: string(13),
  resultComplete: nested(14, Empty),
  serverSideSessionId: string(15),
  executionProgress: nested(18, ExecutionProgress),
});
export type ExecuteResponse = ReturnType<typeof ExecutePlanResponse.decode>;
export type ProgressMessage = ReturnType<typeof ExecutionProgress.decode>;

export const ReattachExecuteRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  operationId: string(3),
  clientType: string(4),
  lastResponseId: optionalString(5),
  observedSessionId: optionalString(6),
});

const ReleaseUntil = message({ responseId: string(1) });
export const ReleaseExecuteRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  operationId: string(3),
  clientType: string(4),
  releaseAll: nested(5, Empty),
  releaseUntil: nested(6, ReleaseUntil),
  observedSessionId: optionalString(7),
});

export const InterruptRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  clientType: string(3),
  interruptType: int32(4),
  operationId: string(6),
  observedSessionId: optionalString(7),
});
export const interruptOperation = 3;

const AnalyzedPlan = message({ plan: bytes(1) });
export const AnalyzePlanRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  clientType: string(3),
  schema: nested(4, AnalyzedPlan),
  inputFiles: nested(9, AnalyzedPlan),
  sparkVersion: nested(10, Empty),
  observedSessionId: optionalString(17),
});
const AnalyzedSchema = message({ schema: bytes(1) });
const InputFiles = message({ files: strings(1) });
const SparkVersion = message({ version: string(1) });
export const AnalyzePlanResponse = message({
  sessionId: string(1),
  schema: nested(2, AnalyzedSchema),
  inputFiles: nested(7, InputFiles),
  sparkVersion: nested(8, SparkVersion),
  serverSideSessionId: string(15),
});

const KeyValue = message({ key: string(1), value: optionalString(2) });
const SetConfig = message({ pairs: repeated(1, KeyValue), silent: optionalBool(2) });
const GetConfig = message({ keys: strings(1) });
const ConfigOperation = message({ set: nested(1, SetConfig), get: nested(2, GetConfig) });
export const ConfigRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  operation: nested(3, ConfigOperation),
  clientType: string(4),
  observedSessionId: optionalString(8),
});
export const ConfigResponse = message({
  sessionId: string(1),
  pairs: repeated(2, KeyValue),
  warnings: strings(3),
  serverSideSessionId: string(4),
});

export const ReleaseSessionRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  clientType: string(3),
});

export const FetchErrorDetailsRequest = message({
  sessionId: string(1),
  userContext: nested(2, UserContext),
  errorId: string(3),
  clientType: string(4),
  observedSessionId: optionalString(5),
});
const QueryContext = message({
  startIndex: int32(3),
  stopIndex: int32(4),
  fragment: string(5),
  contextType: int32(10),
});
const SparkThrowable = message({
  errorClass: optionalString(1),
  messageParameters: map(2, textValue),
  queryContexts: repeated(3, QueryContext),
  sqlState: optionalString(4),
});
const ErrorDetails = message({
  message: string(2),
  causeIndex: optionalInt32(4),
  sparkThrowable: nested(5, SparkThrowable),
});
export const FetchErrorDetailsResponse = message({
  rootErrorIndex: optionalInt32(1),
  errors: repeated(2, ErrorDetails),
});

/** `google.rpc.Status` and its details. */
const Any = message({ typeUrl: string(1), value: bytes(2) });
export const RpcStatus = message({ code: int32(1), message: string(2), details: repeated(3, Any) });
export const ErrorInfo = message({ reason: string(1), domain: string(2), metadata: map(3, textValue) });
const Duration = message({ seconds: int64(1), nanos: int32(2) });
export const RetryInfo = message({ retryDelay: nested(1, Duration) });
