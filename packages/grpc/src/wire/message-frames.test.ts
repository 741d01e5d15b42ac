import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MessageReader, messagePrefix } from './message-frames.ts';

async function* inChunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    const size = sizes[i % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const frame = (message: Uint8Array): Buffer => Buffer.concat([messagePrefix(message.length), message]);

async function read(body: Buffer, sizes: readonly number[] = [7], encoding?: string): Promise<Buffer[]> {
  const messages: Buffer[] = [];
  for await (const message of new MessageReader(inChunks(body, sizes), { maxMessageBytes: 1000, encoding })) {
    messages.push(Buffer.from(message));
  }
  return messages;
}

describe('a reader of messages', () => {
  it('gives back every message, however the body is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 })),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
        async (messages, sizes) => {
          const found = await read(Buffer.concat(messages.map(frame)), sizes);
          expect(found).toEqual(messages.map((message) => Buffer.from(message)));
        },
      ),
    );
  });

  it('refuses a message that is longer than allowed as soon as its length is known', async () => {
    await expect(read(messagePrefix(1001))).rejects.toMatchObject({ code: 'too_large' });
  });

  it('refuses a compressed message, by whether an encoding was named', async () => {
    const compressed = Buffer.from([1, 0, 0, 0, 0]);
    await expect(read(compressed)).rejects.toMatchObject({ status: 'INTERNAL' });
    await expect(read(compressed, [7], 'identity')).rejects.toMatchObject({ status: 'INTERNAL' });
    await expect(read(compressed, [7], 'gzip')).rejects.toMatchObject({ status: 'UNIMPLEMENTED' });
  });

  it.each([
    ['in the prefix', Buffer.from([0, 0, 0])],
    ['behind the prefix', messagePrefix(3)],
    ['in the message', Buffer.concat([messagePrefix(3), Buffer.from('ab')])],
    ['with an unknown flag', Buffer.from([2, 0, 0, 0, 0])],
  ])('refuses a body that is broken %s', async (_, body) => {
    await expect(read(body)).rejects.toMatchObject({ status: 'INVALID_ARGUMENT' });
  });
});
