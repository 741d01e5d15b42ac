import { inOurWords } from '../advice.ts';
import { ConnectionError } from '../errors.ts';
import type { AnswerHints } from '../http.ts';

/** Remedies for a connection that fails, in words of the client. */
export interface Hints extends AnswerHints {
  /** No server is there. */
  readonly server: string;
  /** The server's certificate is of an unknown authority. */
  readonly authority: string;
  /** The server asks for a certificate. */
  readonly certificate: string;
  /** The server may refuse the certificate. */
  readonly refused: string;
}

export const defaultHints: Hints = {
  server: 'is the server running, and is this its address?',
  address: 'check the address',
  advice: inOurWords,
  authority: 'give its authority as ca',
  certificate: 'give yours as cert and key',
  refused: 'the server may not trust the certificate that is given as cert',
};

const connectReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server answers at',
  ENOTFOUND: 'there is no such host:',
  EAI_AGAIN: 'the host name cannot be looked up now:',
  EHOSTUNREACH: 'the host cannot be reached:',
  ENETUNREACH: 'the network cannot be reached:',
  ETIMEDOUT: 'no answer in time from',
};

/** `address` is the address that we tried to connect to. */
export function unreachable(address: string, error: NodeJS.ErrnoException, hint: string): ConnectionError {
  const reason = connectReasons[error.code ?? ''];
  const message = reason === undefined ? `cannot connect to ${address}: ${error.message}` : `${reason} ${address}`;
  return new ConnectionError('unreachable', message, { hint, cause: error });
}
