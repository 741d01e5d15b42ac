import { AppError } from '../core/app-error.ts';
import { GrpcError } from './grpc-status.ts';
import type { BudgetShare } from './message-budget.ts';

export const prefixBytes = 5;

export interface FrameLimits {
  readonly maxMessageBytes: number;
  /** The request's header `grpc-encoding`. */
  readonly encoding: string | undefined;
  /** Of memory for messages, until the next one is asked for. Whoever gives it clears it at the end. Default: no bound. */
  readonly share?: BudgetShare | undefined;
}

/** The five bytes before a message: not compressed, and so many bytes. */
export function messagePrefix(bytes: number): Buffer {
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix[0] = 0;
  prefix.writeUInt32BE(bytes, 1);
  return prefix;
}

/** Cuts a body, as it arrives, into its messages. A message that came in one chunk is a view of that chunk. */
export async function* readMessages(body: AsyncIterable<Buffer>, limits: FrameLimits): AsyncGenerator<Uint8Array> {
  const prefix = Buffer.alloc(prefixBytes);
  let prefixFilled = 0;
  let message: Buffer | undefined;
  let filled = 0;

  for await (const chunk of body) {
    let at = 0;
    while (at < chunk.length) {
      if (message === undefined) {
        const copied = chunk.copy(prefix, prefixFilled, at);
        at += copied;
        prefixFilled += copied;
        if (prefixFilled < prefixBytes) break;
        prefixFilled = 0;
        const bytes = parsePrefix(prefix, limits);
        if (chunk.length - at >= bytes) {
          yield chunk.subarray(at, at + bytes);
          at += bytes;
          continue;
        }
        // Neither pooled nor zeroed: the system gives the pages as they are written, so that memory follows what a
        // client has sent and not what it announces.
        message = Buffer.allocUnsafeSlow(bytes);
      }
      limits.share?.take(Math.min(message.length - filled, chunk.length - at));
      const copied = chunk.copy(message, filled, at);
      at += copied;
      filled += copied;
      if (filled < message.length) break;
      yield message;
      message = undefined;
      limits.share?.clear();
      filled = 0;
    }
  }
  if (message !== undefined || prefixFilled > 0) {
    throw endedInside();
  }
}

export function endedInside(): GrpcError {
  return new GrpcError('INVALID_ARGUMENT', 'the request ended inside a message');
}

/** The length of the message that a body begins with; undefined while its prefix is not there. Throws when it is refused. */
export function checkPrefix(body: Buffer, limits: FrameLimits): number | undefined {
  return body.length < prefixBytes ? undefined : parsePrefix(body, limits);
}

function parsePrefix(prefix: Buffer, { maxMessageBytes, encoding }: FrameLimits): number {
  const flag = prefix[0];
  const bytes = prefix.readUInt32BE(1);
  if (flag === 1) {
    if (encoding === undefined || encoding === 'identity') {
      throw new GrpcError('INTERNAL', 'a message is marked as compressed, but the request has no grpc-encoding');
    }
    throw new GrpcError('UNIMPLEMENTED', `grpc-encoding ${encoding.slice(0, 40)} is not supported; send identity`);
  }
  if (flag !== 0) throw new GrpcError('INVALID_ARGUMENT', `a message begins with byte ${flag}; only 0 and 1 are known`);
  if (bytes > maxMessageBytes) {
    throw new AppError('too_large', `a message of ${bytes} bytes is over the limit of ${maxMessageBytes} bytes`);
  }
  return bytes;
}
