import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { streamChunks } from './stream-chunks.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

async function gather(stream: Readable): Promise<string[]> {
  const texts: string[] = [];
  for await (const chunk of streamChunks(stream)) texts.push(chunk.toString());
  return texts;
}

it('gives the pieces as they came, also those that waited', async () => {
  const stream = new PassThrough();
  for (const text of ['a', 'bc', 'def']) stream.write(bytes(text));
  stream.end();
  expect(await gather(stream)).toEqual(['a', 'bc', 'def']);
  expect(await gather(stream)).toEqual([]);
});

it('reads a bounded number of bytes ahead of its reader', async () => {
  const pieceBytes = 64 * 1024;
  let made = 0;
  const stream = new Readable({
    highWaterMark: pieceBytes,
    read() {
      made += 1;
      this.push(Buffer.alloc(pieceBytes));
    },
  });
  const chunks = streamChunks(stream);
  for (let read = 1; read <= 100; read += 1) {
    await chunks.next();
    expect(made).toBeLessThanOrEqual(read + 6);
  }
  stream.destroy();
});

it('leaves the stream open where its reader leaves off', async () => {
  const stream = new PassThrough();
  stream.write(bytes('a'));
  for await (const chunk of streamChunks(stream)) {
    expect(chunk.toString()).toBe('a');
    break;
  }
  expect(stream.destroyed).toBe(false);
  stream.end(bytes('b'));
  expect(await gather(stream)).toEqual(['b']);
});

it('rejects with the error of the stream, and where it closes before its end', async () => {
  const failing = new PassThrough();
  failing.write(bytes('a'));
  const texts = gather(failing);
  failing.destroy(new Error('broken'));
  await expect(texts).rejects.toThrow('broken');

  const closed = new PassThrough();
  const none = gather(closed);
  closed.destroy();
  await expect(none).rejects.toThrow('before its end');
  await expect(gather(closed)).rejects.toThrow('before its end');
});
