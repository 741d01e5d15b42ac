export const grpcStatus = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcStatusName = keyof typeof grpcStatus;

/** A fault of the gRPC exchange itself. Its message is shown to the caller. */
export class GrpcError extends Error {
  readonly status: GrpcStatusName;
  /** Its kind in a word, for logs and traces. */
  readonly errorType: string;

  constructor(status: GrpcStatusName, message: string) {
    super(message);
    this.name = 'GrpcError';
    this.status = status;
    this.errorType = status === 'CANCELLED' ? 'client_gone' : status.toLowerCase();
  }
}
