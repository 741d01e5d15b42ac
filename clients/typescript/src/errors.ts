import type { ErrorCode } from './api.ts';

/**
 * Faults of a connection: no server was there; it broke before the whole answer had come; no answer began in time; or the other
 * side is no Framehold.
 */
export type ConnectionFault = 'unreachable' | 'broken_connection' | 'no_answer' | 'unexpected_answer';

export interface ErrorDetails {
  /** A remedy. */
  readonly hint?: string | undefined;
  /** Where in the statement, counted from 0 in UTF-16 code units, as strings of JavaScript are. */
  readonly position?: number | undefined;
  /** Seconds after which the same may work. */
  readonly retryAfter?: number | undefined;
  /** By which the log of the server knows the request. */
  readonly requestId?: string | undefined;
  /** Of HTTP. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** The operation failed. The codes are those of the server, and those of the connection to it. */
export class FrameholdError extends Error {
  override readonly name: string = 'FrameholdError';
  readonly code: ErrorCode | ConnectionFault;
  readonly hint: string | undefined;
  readonly position: number | undefined;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode | ConnectionFault, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.position = details.position;
    this.retryAfter = details.retryAfter;
    this.requestId = details.requestId;
    this.status = details.status;
  }
}

/** The server did not refuse: the connection to it failed. */
export class ConnectionError extends FrameholdError {
  override readonly name = 'ConnectionError';
  declare readonly code: ConnectionFault;
  /** Whether all was sent: then it is unknown what the server has done. */
  readonly isSent: boolean;

  constructor(code: ConnectionFault, message: string, details: ErrorDetails & { readonly isSent?: boolean } = {}) {
    super(code, message, details);
    this.isSent = details.isSent ?? false;
  }
}

/** `address` broke off while something was sent, or an answer came. */
export function broken(address: string, details: ErrorDetails = {}): ConnectionError {
  return new ConnectionError('broken_connection', `the connection to ${address} broke in mid-transfer`, details);
}

/** All was sent to `address`, and it broke off then. */
export function unanswered(address: string, details: ErrorDetails = {}): ConnectionError {
  const message = `the connection to ${address} broke before its answer came`;
  return new ConnectionError('broken_connection', message, { ...details, isSent: true });
}

/** The server said no. */
export interface Refusal {
  readonly error: string;
  readonly code?: unknown;
  readonly hint?: unknown;
  readonly position?: unknown;
}

export function refusal(
  { error, code, hint, position }: Refusal,
  details: Pick<ErrorDetails, 'retryAfter' | 'requestId' | 'status'>,
  advice: (hint: string) => string = (text) => text,
): FrameholdError {
  return new FrameholdError((typeof code === 'string' ? code : 'internal') as ErrorCode, error, {
    ...details,
    hint: typeof hint === 'string' ? advice(hint) : undefined,
    position: typeof position === 'number' ? position : undefined,
  });
}

/** Whether the body of an answer is an error of Framehold. */
export function isRefusal(body: unknown): body is Refusal {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string';
}
