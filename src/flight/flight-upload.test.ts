import { expect, test } from 'vitest';
import { openUpload } from './flight-upload.ts';

async function* messages(...all: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* all;
}

test('a first message of more than 16 MiB, which would be held to the end, is refused', async () => {
  await expect(openUpload(messages(Buffer.alloc(16 * 1024 * 1024 + 1)))).rejects.toMatchObject({ code: 'too_large' });
});

test('an upload without any message is refused', async () => {
  await expect(openUpload(messages())).rejects.toMatchObject({ code: 'invalid_input' });
});
