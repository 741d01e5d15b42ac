import { constants, type ServerHttp2Stream } from 'node:http2';
import { GrpcError } from '../wire/grpc-status.ts';
import { messagePrefix } from '../wire/message-frames.ts';
import { type Message, type NotedMessage, piecesOf } from './method.ts';
import { onStall } from './write-stall.ts';

/** Writes one message, and waits while the reader is slow. */
export async function writeMessage(stream: ServerHttp2Stream, message: Message, stallTimeoutMs: number): Promise<void> {
  if (!putMessage(stream, message)) await drained(stream, stallTimeoutMs);
}

/** Whether the stream wants more. */
export function putMessage(stream: ServerHttp2Stream, message: Message): boolean {
  const pieces = piecesOf(message);
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  stream.cork();
  let more = stream.write(messagePrefix(bytes));
  // A write is done when those before it are.
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
export function drained(stream: ServerHttp2Stream, stallTimeoutMs: number): Promise<void> {
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
    stopWatching = onStall(stream, stallTimeoutMs, () => {
      settle(() =>
        reject(new GrpcError('DEADLINE_EXCEEDED', 'the client read nothing, or next to nothing, for too long')),
      );
      // Trailers would wait behind what it does not read.
      stream.close(constants.NGHTTP2_CANCEL);
    });
  });
}
