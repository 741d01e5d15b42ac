export { Administration, type Tenant, type TenantChange, type Token, type TokenRequest } from './administration.ts';
export type { Answer, Api, ErrorCode } from './api.ts';
export { type Ack, Appender, type AppendOptions } from './appender.ts';
export { Connection } from './connection.ts';
export { ConnectionError, type ConnectionFault, FrameholdError } from './errors.ts';
export { type FollowedBytes, type FollowedRows, Follower, type FollowOptions, type Place } from './follow.ts';
export { col, count, Expression, lit, type Rendered } from './frame/expression.ts';
export {
  type CollectOptions,
  type Columns,
  Frame,
  type Groups,
  type JoinOptions,
  type SortOptions,
} from './frame/frame.ts';
export type { Http, HttpOptions, RequestOptions, Stoppable } from './http.ts';
export type {
  Engine,
  FrameInfo,
  GetOptions,
  Identity,
  KeepOptions,
  Kept,
  KeptAs,
  Mode,
  Parameters,
  Put,
  PutOptions,
  PutProgress,
  RowRange,
  RunningQuery,
  ServerInfo,
  SqlOptions,
} from './operations.ts';
export { Result } from './result.ts';
export type { Column } from './rows/cells.ts';
export { type Format, type Reader, Selection } from './selection.ts';
export type { HttpAnswer } from './transport.ts';
export type { PutData, RowObject } from './upload.ts';
