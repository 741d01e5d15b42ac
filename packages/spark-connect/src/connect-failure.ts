import { CodedError } from '@framehold/columns';
import { GrpcCallError, type GrpcStatusName, grpcStatus } from '@framehold/grpc';
import { ErrorInfo, RetryInfo, RpcStatus } from '@framehold/spark-connect/messages';

const statusNames = new Map<number, GrpcStatusName>(
  Object.entries(grpcStatus).map(([name, number]) => [number, name as GrpcStatusName]),
);

export interface ConnectFailureFacts {
  /** Spark's name of the error: `DIVIDE_BY_ZERO`. Sail gives none. */
  readonly errorClass?: string | undefined;
  readonly sqlState?: string | undefined;
  /** The id by which Spark gives details of the error. */
  readonly errorId?: string | undefined;
  /** The delay that the server requests before the next try. */
  readonly retryDelayMs?: number | undefined;
  /** Offset of the fault in the caller's text. */
  readonly position?: number | undefined;
  readonly cause?: unknown;
}

/** A call to the cluster that failed. The message is the cluster's own, not yet fit for a caller. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly status: GrpcStatusName;
  readonly facts: ConnectFailureFacts;

  constructor(status: GrpcStatusName, message: string, facts: ConnectFailureFacts = {}) {
    super(message, 'cause' in facts ? { cause: facts.cause } : undefined);
    this.status = status;
    this.facts = facts;
  }

  /** Whether it is of this class of Spark's. A message names it, too, but may hold a caller's text: it counts only alone. */
  is(errorClass: string): boolean {
    const found = this.facts.errorClass;
    return found === undefined ? this.message.startsWith(`[${errorClass}`) : found.startsWith(errorClass);
  }
}

/** As gRPC reads an answer that something before the server gave. */
const httpStatuses: Readonly<Record<number, GrpcStatusName>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

export function connectFailure(thrown: unknown): unknown {
  if (!(thrown instanceof GrpcCallError)) return thrown;
  if (thrown.outcome !== 'refused') {
    const { httpStatus } = thrown;
    if (httpStatus === undefined || httpStatus === 200) {
      return new ConnectFailure('UNAVAILABLE', 'the connection broke', { cause: thrown });
    }
    return new ConnectFailure(httpStatuses[httpStatus] ?? 'UNKNOWN', `HTTP status ${httpStatus}`, { cause: thrown });
  }
  const status = statusNames.get(thrown.status ?? -1) ?? 'UNKNOWN';
  return new ConnectFailure(status, thrown.text('grpc-message') ?? '', detailsOf(thrown));
}

function detailsOf(error: GrpcCallError): ConnectFailureFacts {
  const encoded = error.bytes('grpc-status-details-bin');
  if (encoded === undefined) return {};
  try {
    const facts: { -readonly [K in keyof ConnectFailureFacts]: ConnectFailureFacts[K] } = {};
    for (const { typeUrl, value } of RpcStatus.decode(encoded).details) {
      if (typeUrl.endsWith('/google.rpc.ErrorInfo')) {
        const { metadata } = ErrorInfo.decode(value);
        facts.errorClass = metadata.get('errorClass');
        facts.sqlState = metadata.get('sqlState');
        facts.errorId = metadata.get('errorId');
      } else if (typeUrl.endsWith('/google.rpc.RetryInfo')) {
        const { retryDelay } = RetryInfo.decode(value);
        facts.retryDelayMs = Number(retryDelay?.seconds ?? 0n) * 1000 + (retryDelay?.nanos ?? 0) / 1e6;
      }
    }
    return facts;
  } catch (thrown) {
    // Details that cannot be read say nothing; the status and its message still hold.
    if (thrown instanceof CodedError) return {};
    throw thrown;
  }
}

/** The server does not know the session any more: it was restarted, or the session was closed. */
export function isSessionLost(thrown: unknown): boolean {
  return (
    thrown instanceof ConnectFailure &&
    ['SESSION_CHANGED', 'SESSION_NOT_FOUND', 'SESSION_CLOSED'].some((name) => thrown.is(`INVALID_HANDLE.${name}`))
  );
}
