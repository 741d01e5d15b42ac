import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { spool } from './upload-spool.ts';

const MiB = 1024 * 1024;

async function* cut(content: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += pieceBytes) yield content.subarray(at, at + pieceBytes);
}

async function spooled(content: Buffer, pieceBytes = 64 * 1024) {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'upload');
  const { isPlainText } = await spool(cut(content, pieceBytes), path);
  return { isPlainText, isWhole: content.equals(await readFile(path)) };
}

const lines = (bytes: number): Buffer => Buffer.alloc(bytes, 'some line\n');

test.each([0, 1, MiB - 1, MiB, MiB + 1, 3 * MiB + 5])('%i bytes are written whole and in order', async (bytes) => {
  const content = Buffer.from(Uint32Array.from({ length: Math.ceil(bytes / 4) }, (_, n) => n).buffer).subarray(
    0,
    bytes,
  );
  expect((await spooled(content)).isWhole).toBe(true);
  expect((await spooled(content, 5 * MiB)).isWhole).toBe(true);
  expect((await spooled(content, 99_991)).isWhole).toBe(true);
});

test('lines of text are plain', async () => {
  expect((await spooled(lines(3 * MiB + 5))).isPlainText).toBe(true);
});

test.each([0, MiB, 2 * MiB + 3, 3 * MiB + 4])('a NUL at byte %i is noticed', async (at) => {
  const content = lines(3 * MiB + 5);
  content[at] = 0;
  expect((await spooled(content)).isPlainText).toBe(false);
});

test('a line that is longer than two MiB is noticed, wherever it begins', async () => {
  for (const before of [0, 1, MiB - 1, MiB]) {
    const content = Buffer.concat([lines(before), Buffer.alloc(2 * MiB, 'x'), lines(10)]);
    expect((await spooled(content)).isPlainText).toBe(false);
  }
});

test('a body that breaks off rejects with its own error', async () => {
  await using directory = await temporaryDirectory();
  async function* broken(): AsyncGenerator<Buffer> {
    yield lines(2 * MiB);
    throw new Error('the client has left');
  }
  await expect(spool(broken(), join(directory.path, 'upload'))).rejects.toThrow('the client has left');
});
