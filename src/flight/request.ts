import type { ServerHttp2Stream } from 'node:http2';
import { AppError } from '../core/app-error.ts';
import { GrpcError } from './grpc-status.ts';
import { IdleTimer } from './idle-timer.ts';
import { readMessages } from './message-frames.ts';
import type { Call } from './method.ts';

const defaultMaxMessageBytes = 4 * 1024 * 1024;

interface Limits {
  readonly maxMessageBytes?: number;
  readonly idleTimeoutMs?: number;
}

export function requestMessages(stream: ServerHttp2Stream, call: Call, limits: Limits): AsyncIterable<Uint8Array> {
  const { maxMessageBytes = defaultMaxMessageBytes, idleTimeoutMs } = limits;
  const encoding = call.metadata['grpc-encoding']?.toString();
  return readMessages(requestBytes(stream, idleTimeoutMs), { maxMessageBytes, encoding });
}

async function* requestBytes(stream: ServerHttp2Stream, idleTimeoutMs: number | undefined): AsyncGenerator<Buffer> {
  // Leaving the loop must not destroy the stream: the answer is still to be sent.
  const chunks: AsyncIterator<Buffer> = stream.iterator({ destroyOnReturn: false });
  const idle = idleTimeoutMs === undefined ? undefined : new IdleTimer(idleTimeoutMs);
  try {
    for (;;) {
      const step = await (idle === undefined ? chunks.next() : idle.limit(chunks.next()));
      if (step.done === true) break;
      yield step.value;
    }
  } finally {
    idle?.stop();
  }
  // Node ends the readable side of a stream that was reset without an error as if the client had sent everything.
  if (stream.aborted) throw new GrpcError('CANCELLED', 'the client cancelled the call');
}

/** The message of a request that must have exactly one, and have it soon. */
export async function onlyMessage(
  messages: AsyncIterable<Uint8Array>,
  call: Call,
  timeoutMs: number,
): Promise<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new AppError('invalid_input', `the request did not arrive within ${timeoutMs} ms`);
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([only(messages, call.path), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function only(messages: AsyncIterable<Uint8Array>, path: string): Promise<Uint8Array> {
  let first: Uint8Array | undefined;
  for await (const message of messages) {
    if (first !== undefined) throw new GrpcError('UNIMPLEMENTED', `${path} takes one message, but more came`);
    first = message;
  }
  if (first === undefined) throw new GrpcError('UNIMPLEMENTED', `${path} takes one message, but none came`);
  return first;
}
