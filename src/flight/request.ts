import type { ServerHttp2Stream } from 'node:http2';
import { AppError } from '../core/app-error.ts';
import { GrpcError } from './grpc-status.ts';
import { readMessages } from './message-frames.ts';
import type { Call } from './method.ts';

const defaultMaxMessageBytes = 4 * 1024 * 1024;

interface Limits {
  readonly maxMessageBytes?: number;
}

export function requestMessages(stream: ServerHttp2Stream, call: Call, limits: Limits): AsyncIterable<Uint8Array> {
  const { maxMessageBytes = defaultMaxMessageBytes } = limits;
  const encoding = call.metadata['grpc-encoding']?.toString();
  // Leaving the loop must not destroy the stream: the answer is still to be sent.
  return readMessages(stream.iterator({ destroyOnReturn: false }), { maxMessageBytes, encoding });
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
