export { GrpcCallError, type GrpcCallOptions, type GrpcOutcome, grpcCall, type Pieces } from './client/grpc-call.ts';
export {
  bool,
  bytes,
  int32,
  int64,
  type MessageType,
  map,
  message,
  nested,
  optionalBool,
  optionalBytes,
  optionalDouble,
  optionalFloat,
  optionalInt32,
  optionalInt64,
  optionalSfixed64,
  optionalString,
  repeated,
  string,
  strings,
  textValue,
  uint32s,
} from './protobuf/proto-message.ts';
export { bytesField, lastField, readFields, varintField } from './protobuf/protobuf.ts';
export { type Failure, failureOf } from './server/failure.ts';
export { createHealthService } from './server/health.ts';
export { anybody, type CallHooks, type ConnectionHooks, type EndedCall, type IncomingCall } from './server/hooks.ts';
export { http2Options } from './server/http2-settings.ts';
export {
  type GrpcTimeouts,
  type Listener,
  type ListenerLogger,
  type ListenerOptions,
  startListener,
} from './server/listener.ts';
export {
  type Call,
  type Message,
  type Messages,
  type Method,
  type NotedMessage,
  piecesOf,
  type Service,
} from './server/method.ts';
export { createReflectionServices } from './server/reflection.ts';
export type { Capacity, Share, ShareOptions } from './wire/capacity.ts';
export { GrpcError, type GrpcStatusName, grpcStatus } from './wire/grpc-status.ts';
export { type FrameLimits, MessageReader, messagePrefix } from './wire/message-frames.ts';
