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

it('takes no more from the source than its reader asks for', async () => {
  let made = 0;
  const stream = new Readable({
    highWaterMark: 10,
    read() {
      made += 1;
      this.push(Buffer.alloc(10));
    },
  });
  const chunks = streamChunks(stream);
  for (let read = 1; read <= 20; read += 1) {
    await chunks.next();
    expect(made).toBeLessThanOrEqual(read + 2);
  }
  stream.destroy();
});

it('leaves the rest in the stream where its reader leaves off', async () => {
  const stream = new PassThrough();
  for (const text of ['a', 'b', 'c']) stream.write(bytes(text));
  stream.end();
  for await (const chunk of streamChunks(stream)) {
    expect(chunk.toString()).toBe('a');
    break;
  }
  expect(stream.destroyed).toBe(false);
  expect(await gather(stream)).toEqual(['b', 'c']);
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
