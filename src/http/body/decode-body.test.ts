import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../core/errors/app-error.ts';
import { type BodyCoding, decodeBody, parseContentEncoding } from './decode-body.ts';

const numbers = Buffer.from(Array.from({ length: 60 }, (_, n) => `${n + 1}\n`).join(''));

/** `seq 1 60 | zstd -19`, with a checksum. */
const zstd = Buffer.from(
  'KLUv/QRojQIAskoTCbDrJEmIcFKYdQN9s8010zyzzDF35gzzySaXTPLIIodcmTLIF1tcMcUTSxxxY8YQX7denfp06dHb2aEfN16c+HDhwcvJgd92Tc9y3BkA8vJCfg==',
  'base64',
);
/** A frame with one block that is not compressed. */
const stored = (bytes: Buffer): Buffer => {
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from('28b52ffd0058', 'hex'), block, bytes]);
};
/** Blocks of one byte, 128 KiB times. */
const repeated = (blocks: number): Buffer => {
  const head = Buffer.from('28b52ffd0070', 'hex');
  const block = Buffer.alloc(4);
  block.writeUIntLE((131_072 << 3) | 2, 0, 3);
  const last = Buffer.from(block);
  last.writeUIntLE((131_072 << 3) | 3, 0, 3);
  return Buffer.concat([head, ...Array.from({ length: blocks - 1 }, () => block), last]);
};

const packed: Record<BodyCoding, Buffer> = {
  gzip: gzipSync(numbers),
  deflate: deflateSync(numbers),
  br: brotliCompressSync(numbers),
  zstd,
};

async function* cut(bytes: Buffer, size = 1000): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function unpack(bytes: Buffer, codings: readonly BodyCoding[], { size = 1000, maxBodyBytes = 10_000_000 } = {}) {
  const pieces: Buffer[] = [];
  for await (const piece of decodeBody(cut(bytes, size), codings, { maxBodyBytes })) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe.each(Object.entries(packed) as [BodyCoding, Buffer][])('%s', (coding, bytes) => {
  test('is unpacked, however it is cut', async () => {
    for (const size of [1, 3, 1000]) expect(await unpack(bytes, [coding], { size })).toEqual(numbers);
  });

  test('is refused wherever it breaks off', async () => {
    for (let end = 1; end < bytes.length; end += 7) {
      await expect(unpack(bytes.subarray(0, end), [coding])).rejects.toMatchObject({
        code: 'invalid_input',
        message: `the ${coding} of the body ends too early`,
      });
    }
  });

  test('that is something else is refused', async () => {
    await expect(unpack(Buffer.from('a,b,c\n1,2,3\n4,5,6\n'), [coding])).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(`the ${coding} of the body (is damaged|ends too early)`),
    });
  });

  test('may not hold more than a body may', async () => {
    expect(await unpack(bytes, [coding], { maxBodyBytes: numbers.length })).toEqual(numbers);
    await expect(unpack(bytes, [coding], { maxBodyBytes: numbers.length - 1 })).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  test('passes on why its source failed', async () => {
    async function* failing(): AsyncGenerator<Buffer, void, undefined> {
      yield bytes.subarray(0, 10);
      throw new AppError('too_large', 'too much');
    }
    const read = async () => {
      for await (const _ of decodeBody(failing(), [coding], { maxBodyBytes: 1000 }));
    };
    await expect(read()).rejects.toMatchObject({ code: 'too_large', message: 'too much' });
  });

  test('gives its source back when it is not read to the end', async () => {
    let isOver = false;
    async function* source(): AsyncGenerator<Buffer, void, undefined> {
      try {
        for (;;) yield Buffer.from(bytes);
      } finally {
        isOver = true;
      }
    }
    for await (const _ of decodeBody(source(), [coding], { maxBodyBytes: 1e9 })) break;
    await expect.poll(() => isOver).toBe(true);
  });
});

describe('zstd', () => {
  test('of several frames gives all of them', async () => {
    const skippable = Buffer.concat([Buffer.from('5a2a4d1805000000', 'hex'), Buffer.from('hello')]);
    const frames = Buffer.concat([zstd, skippable, stored(Buffer.from('one')), stored(Buffer.alloc(0)), zstd]);
    for (const size of [1, 1000]) {
      expect(await unpack(frames, ['zstd'], { size })).toEqual(Buffer.concat([numbers, Buffer.from('one'), numbers]));
    }
  });

  test('with something else behind it is refused', async () => {
    await expect(unpack(Buffer.concat([zstd, Buffer.from('and so on')]), ['zstd'])).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('that blows up is cut off before it has', async () => {
    expect((await unpack(repeated(16), ['zstd'])).equals(Buffer.alloc(16 * 131_072))).toBe(true);
    const start = performance.now();
    await expect(unpack(repeated(20_000), ['zstd'], { size: 65_536 })).rejects.toMatchObject({ code: 'too_large' });
    expect(performance.now() - start).toBeLessThan(2000);
  });

  test('that claims a window of gigabytes is refused', async () => {
    const greedy = Buffer.concat([Buffer.from('28b52ffd00a8', 'hex'), stored(Buffer.from('one')).subarray(6)]);
    await expect(unpack(greedy, ['zstd'])).rejects.toMatchObject({
      code: 'unsupported_format',
      message: expect.stringContaining('needs 2147483648 bytes of memory'),
    });
  });

  test('with wrong lengths never hangs', async () => {
    for (let at = 4; at < zstd.length; at++) {
      for (const flip of [1, 0x80, 0xff]) {
        const wrong = Buffer.from(zstd);
        wrong[at] = (wrong[at] ?? 0) ^ flip;
        await unpack(wrong, ['zstd']).catch((error: unknown) => expect(error).toBeInstanceOf(AppError));
      }
    }
  });
});

test('two codings are taken off in turn', async () => {
  expect(await unpack(brotliCompressSync(gzipSync(numbers)), ['gzip', 'br'])).toEqual(numbers);
});

test('Content-Encoding is read', () => {
  expect(parseContentEncoding(undefined)).toEqual([]);
  expect(parseContentEncoding('identity')).toEqual([]);
  expect(parseContentEncoding('X-GZIP')).toEqual(['gzip']);
  expect(parseContentEncoding('gzip , br')).toEqual(['gzip', 'br']);
  for (const header of ['compress', 'gzip, nothing', 'gzip, gzip, gzip', 'constructor']) {
    expect(() => parseContentEncoding(header), header).toThrow('is not known');
  }
});
