import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { Checksum } from '../../../../core/rows/checksum.ts';
import { checksumLike, checksumOf } from './checksum.ts';

const { signal } = new AbortController();

function checksum(...pieces: readonly Uint8Array[]): string {
  const sum = new Checksum();
  for (const piece of pieces) sum.update(piece);
  return sum.digest();
}

test('a checksum is the same on every machine and with every version of Node', () => {
  expect(checksum()).toBe('ghash:58e2fccefa7e3061367f1d57a4e7455a');
  expect(checksum(Buffer.from('Framehold'))).toBe('ghash:af518262f17ab9947501df0b39ad2a8e');
});

test('a checksum is the same however the bytes are cut', () => {
  const bytes = randomBytes(1000);
  const whole = checksum(bytes);
  for (let at = 0; at <= 50; at++) {
    expect(checksum(bytes.subarray(0, at), bytes.subarray(at, 2 * at), bytes.subarray(2 * at))).toBe(whole);
  }
});

test('every bit counts, and so does every zero at the end', () => {
  const bytes = Buffer.alloc(300, 7);
  const sums = new Set([checksum(bytes)]);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    sums.add(checksum(changed));
  }
  for (let zeros = 1; zeros <= 40; zeros++) sums.add(checksum(bytes, Buffer.alloc(zeros)));
  expect(sums.size).toBe(1 + 300 * 8 + 40);
});

test('a file of several blocks has the checksum of its bytes, of the kind that is asked for', async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, 'bytes');
  const bytes = randomBytes(2_500_000);
  await writeFile(path, bytes);
  const own = { checksum: checksum(bytes), bytes: bytes.length };
  expect(await checksumOf(path, signal)).toEqual(own);
  expect(await checksumLike(own.checksum, path, signal)).toEqual(own);
  const sha256 = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  expect((await checksumLike('sha256:of another', path, signal)).checksum).toBe(sha256);
});
