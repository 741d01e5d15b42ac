import type { ClientHttp2Session } from 'node:http2';
import { GrpcCallError, grpcCall, grpcStatus, type Pieces } from '@framehold/grpc';
import { broken, type FrameholdError, refusal, unanswered } from '../errors.ts';
import type { AnswerHints } from '../http.ts';

const statusNames = new Map<number, string>(Object.entries(grpcStatus).map(([name, number]) => [number, name]));

export interface ClientCallOptions {
  /** Of the gRPC method: `/service/Method`. */
  readonly path: string;
  /** For errors. */
  readonly address: string;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly advice: AnswerHints['advice'];
}

/** One call to a Framehold server. Rejects with a FrameholdError where the server refuses or goes away. */
export async function* callServer(
  session: ClientHttp2Session,
  requests: AsyncIterable<Pieces> | Iterable<Pieces>,
  { path, address, signal, headers, advice }: ClientCallOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* grpcCall(session, requests, { path, signal, ...(headers !== undefined && { headers }) });
  } catch (error) {
    throw error instanceof GrpcCallError ? clientError(error, address, advice) : error;
  }
}

function clientError(error: GrpcCallError, address: string, advice: AnswerHints['advice']): FrameholdError {
  switch (error.outcome) {
    case 'unanswered':
      return unanswered(address);
    case 'broken':
      return broken(address);
    case 'refused':
      return refusalOf(error, advice);
    default:
      return error.outcome satisfies never;
  }
}

function refusalOf(error: GrpcCallError, advice: AnswerHints['advice']): FrameholdError {
  const hint = error.text('framehold-hint');
  const message = error.text('grpc-message') ?? `the server answered ${nameOf(error.status)}`;
  const position = error.text('framehold-position');
  const retryAfter = error.text('framehold-retry-after');
  return refusal(
    {
      error: hint === undefined ? message : message.replace(` (${hint})`, ''),
      code: error.text('framehold-code') ?? 'internal',
      hint,
      position: position === undefined ? undefined : Number(position),
    },
    {
      retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
      requestId: error.text('x-request-id'),
    },
    advice,
  );
}

function nameOf(status: number | undefined): string {
  return statusNames.get(status ?? -1) ?? String(status);
}
