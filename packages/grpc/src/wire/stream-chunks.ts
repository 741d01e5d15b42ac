import type { Readable } from 'node:stream';

/** Read ahead: to stop a stream and start it again for every piece takes longer than to read it. */
const mostWaitingBytes = 256 * 1024;

/**
 * The bytes of a stream in the pieces in which they arrive. Ending early drops the waiting ones, and leaves the stream open. A
 * stream's own iterator joins all waiting pieces: for large messages, which are joined anyway, one more copy of every byte.
 *
 * Rejects with the stream's error, or if it closes before its end.
 */
export async function* streamChunks(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  const chunks: Buffer[] = [];
  let waitingBytes = 0;
  let failure: Error | undefined;
  let isOver = stream.readableEnded;
  let wake = (): void => {};
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes >= mostWaitingBytes) stream.pause();
    wake();
  };
  const onEnd = (): void => {
    isOver = true;
    wake();
  };
  const onError = (error: Error): void => {
    failure = error;
    wake();
  };
  const onClose = (): void => {
    if (!isOver) failure ??= new Error('the stream closed before its end');
    wake();
  };
  stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  if (stream.destroyed) onClose();
  try {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        waitingBytes -= chunk.length;
        yield chunk;
      } else if (failure !== undefined) throw failure;
      else if (isOver) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (stream.isPaused()) stream.resume();
        });
      }
    }
  } finally {
    stream.pause();
    stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
  }
}
