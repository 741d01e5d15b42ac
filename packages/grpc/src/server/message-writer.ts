import { constants, type ServerHttp2Stream } from 'node:http2';
import { GrpcError } from '../wire/grpc-status.ts';
import { messagePrefix, prefixBytes } from '../wire/message-frames.ts';
import { type Message, type NotedMessage, piecesOf } from './method.ts';
import { onStall, type StallTimeout } from './write-stall.ts';

/** Writes one message, and waits while the reader is slow. */
export async function writeMessage(
  stream: ServerHttp2Stream,
  message: Message,
  stallTimeout: StallTimeout,
): Promise<void> {
  if (!putMessage(stream, message)) await drained(stream, stallTimeout);
}

/** Up to this size pieces are copied into one: Node takes longer for several pieces than for the copy. */
const mostCopiedBytes = 16 * 1024;

/** Writes the last messages of a stream, and ends it. */
export function endWithMessages(stream: ServerHttp2Stream, messages: readonly Message[]): void {
  let bytes = 0;
  for (const message of messages) bytes += prefixBytes + bytesOf(message);
  if (bytes === 0 || bytes > mostCopiedBytes || messages.some((message) => 'onSent' in message)) {
    for (const message of messages) putMessage(stream, message);
    stream.end();
    return;
  }
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const message of messages) {
    whole[at] = 0;
    whole.writeUInt32BE(bytesOf(message), at + 1);
    at += prefixBytes;
    for (const piece of piecesOf(message)) {
      whole.set(piece, at);
      at += piece.length;
    }
  }
  stream.end(whole);
}

function bytesOf(message: Message): number {
  let bytes = 0;
  for (const piece of piecesOf(message)) bytes += piece.length;
  return bytes;
}

/** Whether the stream wants more. */
function putMessage(stream: ServerHttp2Stream, message: Message): boolean {
  const pieces = piecesOf(message);
  const bytes = bytesOf(message);
  stream.cork();
  let more = stream.write(messagePrefix(bytes));
  // A write is done when the writes before it are.
  const last = 'onSent' in message ? pieces.at(-1) : undefined;
  for (const piece of pieces) {
    more = piece === last ? stream.write(piece, onWritten(message as NotedMessage)) : stream.write(piece);
  }
  stream.uncork();
  return more;
}

/** Not where the write failed: then it may not be over. */
function onWritten({ onSent }: NotedMessage): (error?: Error | null) => void {
  return (error) => {
    if (error == null) onSent();
  };
}

/** Resolves when the stream wants more; rejects when it closes or stalls. */
function drained(stream: ServerHttp2Stream, stallTimeout: StallTimeout): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDrain = (): void => settle(resolve);
    const onClose = (): void => settle(() => reject(new GrpcError('CANCELLED', 'the stream was closed')));
    const settle = (action: () => void): void => {
      stopWatching?.();
      stream.off('drain', onDrain).off('close', onClose);
      action();
    };
    let stopWatching: (() => void) | undefined;
    if (stream.closed || stream.destroyed) return onClose();
    stream.on('drain', onDrain).on('close', onClose);
    stopWatching = onStall(stream, stallTimeout, () => {
      settle(() =>
        reject(new GrpcError('DEADLINE_EXCEEDED', 'the client read nothing, or next to nothing, for too long')),
      );
      // Trailers would wait behind bytes that the client does not read.
      stream.close(constants.NGHTTP2_CANCEL);
    });
  });
}
