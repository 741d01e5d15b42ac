export { ConnectChannel, type ConnectChannelOptions } from './connect-channel.ts';
export { ConnectFailure, type ConnectFailureFacts, isSessionLost } from './connect-failure.ts';
export { type ConnectAddress, maskConnectUrl, parseConnectUrl } from './connect-url.ts';
export { withDetails } from './error-details.ts';
export { type ExecutionOptions, execute } from './execution.ts';
export { arrayOf, type LiteralValue, literal, nullLiteral } from './literal.ts';
export {
  aliased,
  type BoundArguments,
  limited,
  localRows,
  type Relation,
  readParquet,
  rootPlan,
  sqlOver,
  writePlan,
} from './plan.ts';
export type { QueryProgress } from './query-progress.ts';
export {
  type Flavour,
  type SessionSettings,
  SparkSession,
  type SparkSessionOptions,
  settingNotKept,
} from './spark-session.ts';
export { columnsOfStruct, emptyType, SparkType, type SparkTypeValue } from './spark-type.ts';
