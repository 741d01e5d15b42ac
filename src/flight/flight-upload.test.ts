import { expect, test } from 'vitest';
import { MessageReader, messagePrefix } from '../protobuf/message-frames.ts';
import { bytesField } from '../protobuf/protobuf.ts';
import { openUpload } from './flight-upload.ts';

function messages(all: readonly Uint8Array[], chunkBytes = 65_536): MessageReader {
  const body = Buffer.concat(all.flatMap((message) => [messagePrefix(message.length), message]));
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < body.length; at += chunkBytes) yield body.subarray(at, at + chunkBytes);
  }
  return new MessageReader(chunks(), { maxMessageBytes: 2 ** 28, encoding: undefined });
}

test('a first message of more than 16 MiB, which would be held to the end, is refused', async () => {
  await expect(openUpload(messages([Buffer.alloc(16 * 1024 * 1024 + 1)]))).rejects.toMatchObject({ code: 'too_large' });
});

test('an upload without any message is refused', async () => {
  await expect(openUpload(messages([]))).rejects.toMatchObject({ code: 'invalid_input' });
});

const schema = bytesField(2, Buffer.alloc(16, 's'));
const header = bytesField(2, Buffer.alloc(8, 'h'));
const body = bytesField(1000, Buffer.alloc(40, 'b'));
const metadata = bytesField(3, Buffer.from('{}'));
const batch = Buffer.concat([header, body]);

async function streamOf(all: readonly Uint8Array[], chunkBytes: number): Promise<string> {
  const upload = await openUpload(messages(all, chunkBytes));
  expect(Buffer.from(await upload.metadata()).toString()).toBe('{}');
  const pieces: Uint8Array[] = [];
  for await (const piece of upload.ipcStream()) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

test.each([
  ['whose bodies come last', [schema, metadata, batch, batch]],
  ['with metadata on its first batch', [schema, Buffer.concat([metadata, batch]), batch]],
  ['with metadata on its schema', [Buffer.concat([schema, metadata]), batch, batch]],
  ['whose bodies come first', [schema, Buffer.concat([metadata, body, header]), Buffer.concat([body, header])]],
  ['that has empty messages', [schema, Buffer.alloc(0), metadata, batch, Buffer.alloc(0), batch]],
])('an upload %s is the same stream however it is cut', async (_, all) => {
  const whole = await streamOf(all, 1 << 20);
  expect(whole.match(/s{16}|h{8}|b{40}/g)).toEqual(['s', 'h', 'b', 'h', 'b'].map((c) => expect.stringContaining(c)));
  expect(whole.length).toBe(24 + 2 * (16 + 40) + 8);
  for (let chunkBytes = 1; chunkBytes < 80; chunkBytes++) expect(await streamOf(all, chunkBytes)).toBe(whole);
});

test('a body without a header is refused, also before all of it has come', async () => {
  for (const chunkBytes of [1, 40, 1000]) {
    const upload = await openUpload(messages([schema, bytesField(1000, Buffer.alloc(100))], chunkBytes));
    await expect(upload.metadata()).rejects.toMatchObject({ code: 'invalid_input' });
  }
});
