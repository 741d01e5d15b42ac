/**
 * How far it came: no server was there; one was and refused; the connection broke in mid-transfer; or all was sent and no
 * answer came, so that nobody knows.
 */
export type Outcome = 'unreachable' | 'refused' | 'broken' | 'unanswered';

export interface ClientErrorOptions {
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** The server's own code, such as `handle_exists`. */
  readonly code?: string | undefined;
}

/** What a server was asked for did not come about. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly outcome: Outcome;
  readonly hint: string | undefined;
  readonly code: string | undefined;

  constructor(outcome: Outcome, message: string, { hint, code }: ClientErrorOptions = {}) {
    super(message);
    this.outcome = outcome;
    this.hint = hint;
    this.code = code;
  }
}

/** The server said no. */
export function refusal(
  message: string,
  { code, hint, retryAfter }: { code?: string | undefined; hint?: string | undefined; retryAfter?: string | undefined },
): ClientError {
  const again = retryAfter === undefined ? undefined : `try again in ${retryAfter} s`;
  const advice = again === undefined ? hint : hint === undefined ? again : `${hint}; ${again}`;
  return new ClientError('refused', message, { code, hint: advice });
}

const connectReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server answers at',
  ENOTFOUND: 'there is no such host:',
  EAI_AGAIN: 'the host name cannot be looked up now:',
  EHOSTUNREACH: 'the host cannot be reached:',
  ENETUNREACH: 'the network cannot be reached:',
  ETIMEDOUT: 'no answer in time from',
};

/** `address` is what we tried to connect to. */
export function unreachable(address: string, error: NodeJS.ErrnoException): ClientError {
  const reason = connectReasons[error.code ?? ''];
  const message = reason === undefined ? `cannot connect to ${address}: ${error.message}` : `${reason} ${address}`;
  return new ClientError('unreachable', message, {
    hint: 'is the server running? "framehold server" starts one; --server or FRAMEHOLD_SERVER names another',
  });
}
