import type { ClientHttp2Session } from 'node:http2';
import { GrpcCallError, grpcCall, type Pieces } from '../grpc/client/grpc-call.ts';
import { grpcStatus } from '../grpc/wire/grpc-status.ts';
import { ClientError, refusal } from './client-error.ts';

const statusNames = new Map<number, string>(Object.entries(grpcStatus).map(([name, number]) => [number, name]));

export interface ClientCallOptions {
  /** Of the gRPC method: `/service/Method`. */
  readonly path: string;
  /** For errors. */
  readonly address: string;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One call to a Framehold server. Rejects with a ClientError where the server refuses or goes away. */
export async function* callServer(
  session: ClientHttp2Session,
  requests: AsyncIterable<Pieces> | Iterable<Pieces>,
  { path, address, signal, headers }: ClientCallOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* grpcCall(session, requests, { path, signal, ...(headers !== undefined && { headers }) });
  } catch (error) {
    throw error instanceof GrpcCallError ? clientError(error, address) : error;
  }
}

function clientError(error: GrpcCallError, address: string): ClientError {
  switch (error.outcome) {
    case 'unanswered':
      return new ClientError('unanswered', `the connection to ${address} broke before its answer came`);
    case 'broken':
      return new ClientError('broken', `the connection to ${address} broke in mid-transfer`);
    case 'refused': {
      const hint = error.text('framehold-hint');
      const message = error.text('grpc-message') ?? `the server answered ${nameOf(error.status)}`;
      return refusal(hint === undefined ? message : message.replace(` (${hint})`, ''), {
        code: error.text('framehold-code'),
        hint,
        retryAfter: error.text('framehold-retry-after'),
      });
    }
    default:
      return error.outcome satisfies never;
  }
}

function nameOf(status: number | undefined): string {
  return statusNames.get(status ?? -1) ?? String(status);
}
