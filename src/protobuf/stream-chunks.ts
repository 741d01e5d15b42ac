import type { Readable } from 'node:stream';

/**
 * The bytes of a stream in the pieces in which they come; leaving off leaves the stream as it is. A stream's own iterator
 * copies all that wait into one: of large messages, which are put together anyway, every byte once more.
 *
 * Rejects with the stream's error, or where it closes before its end.
 */
export async function* streamChunks(stream: Readable): AsyncGenerator<Buffer, void, undefined> {
  const chunks: Buffer[] = [];
  let failure: Error | undefined;
  let isOver = stream.readableEnded;
  let wake = (): void => {};
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    stream.pause();
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
      if (chunk !== undefined) yield chunk;
      else if (failure !== undefined) throw failure;
      else if (isOver) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
          stream.resume();
        });
      }
    }
  } finally {
    stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
  }
}
