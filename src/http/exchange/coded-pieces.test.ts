import { Transform } from 'node:stream';
import { brotliDecompressSync, createGunzip, createGzip, gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { codedPieces, coderOptions, codingPlace, codingPlaces } from './coded-pieces.ts';
import { compressor } from './content-coding.ts';

const text = Buffer.from(Array.from({ length: 40_000 }, (_, n) => `${n},row ${n * 7919}\n`).join(''));

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const made: Uint8Array[] = [];
  for await (const piece of pieces) made.push(piece);
  return Buffer.concat(made);
}

describe('pieces', () => {
  test('come out as a whole stream, whatever their size', async () => {
    for (const bytes of [Buffer.alloc(0), Buffer.from('a'), text, Buffer.alloc(9_000_000)]) {
      expect(gunzipSync(await all(codedPieces(once(bytes), compressor('gzip'), 'a'))).equals(bytes)).toBe(true);
      expect(brotliDecompressSync(await all(codedPieces(once(bytes), compressor('br'), 'a'))).equals(bytes)).toBe(true);
      const unpacked = codedPieces(once(gzipSync(bytes)), createGunzip(coderOptions), 'a');
      expect((await all(unpacked)).equals(bytes)).toBe(true);
    }
  });

  test('of a few bytes that hold many come one by one', async () => {
    const sizes: number[] = [];
    const unpacked = codedPieces(once(gzipSync(Buffer.alloc(5_000_000))), createGunzip(coderOptions), 'a');
    for await (const { length } of unpacked) sizes.push(length);
    expect(Math.max(...sizes)).toBe(64 * 1024);
  });
});

describe('places', () => {
  /** Those at work, and how to let the next one go on. */
  const working: { name: string; finish: () => void }[] = [];
  afterEach(() => void working.splice(0));

  function slowCoder(name: string): Transform {
    return new Transform({
      transform(piece, _encoding, done) {
        working.push({ name, finish: () => done(null, piece) });
      },
    });
  }

  test('are few, and tenants take turns at them', async () => {
    const asked = [...Array<string>(codingPlaces + 2).fill('a'), 'b'];
    const made = asked.map((name) => all(codedPieces(once(Buffer.from(name)), slowCoder(name), `${name}#1`)));
    const begun: string[] = [];
    for (let left = asked.length; left > 0; left--) {
      await expect.poll(() => working.length).toBe(Math.min(codingPlaces, left));
      const next = working.shift();
      begun.push(next?.name ?? '');
      next?.finish();
    }
    expect(begun.indexOf('b')).toBeLessThan(asked.length - 1);
    expect(String(await Promise.all(made))).toBe(String(asked));
  });

  test('are not held for readers that are slow, for sources that are, nor behind errors and readers that leave', async () => {
    async function* stuck(): AsyncGenerator<Uint8Array, void, undefined> {
      yield text;
      await new Promise(() => {});
    }
    const readers = Array.from({ length: 4 }, () => codedPieces(once(gzipSync(text)), createGunzip(), 'a'));
    await Promise.all(readers.map((reader) => reader.next()));
    for (let n = 0; n < 4; n++) codedPieces(stuck(), createGzip(), 'a').next();
    for (let n = 0; n < 4; n++) {
      await expect(all(codedPieces(once(text), createGunzip(), 'a'))).rejects.toMatchObject({ code: 'Z_DATA_ERROR' });
    }
    for (let n = 0; n < 4; n++) {
      const coder = createGunzip();
      for await (const _ of codedPieces(once(gzipSync(text)), coder, 'a')) break;
      expect(coder.destroyed).toBe(true);
    }
    const releases: (() => void)[] = [];
    for (let n = 0; n < codingPlaces; n++) releases.push(await codingPlace('b'));
    for (const release of releases) release();
    expect((await all(readers[0] ?? once(text.subarray(0, 0)))).length).toBeGreaterThan(0);
  });
});
