import { Dictionary, Int32, RecordBatchReader, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { readArrow } from './arrow-reader.ts';
import { arrowFile, arrowStream } from './arrow-writer.ts';
import { ByteReader } from './byte-reader.ts';

const letters = vectorFromArray(['a', 'b', null, 'a'], new Dictionary(new Utf8(), new Int32()));
const table = new Table({ n: vectorFromArray([1, 2, 3, 4], new Int32()), letters }).concat(
  new Table({ n: vectorFromArray([5], new Int32()), letters: letters.slice(0, 1) }),
);
const stream = tableToIPC(table, 'stream');

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

const rowsOf = (bytes: Uint8Array): unknown[] => {
  const reader = RecordBatchReader.from(bytes);
  return [...(reader as Iterable<Iterable<{ toJSON(): unknown }>>)].flatMap((batch) =>
    [...batch].map((row) => row.toJSON()),
  );
};

describe.each([1, 7, 64, 1_000_000])('a stream that comes in pieces of %i bytes', (size) => {
  const messages = () => readArrow(new ByteReader(inPieces(stream, size)));

  it('is written as a stream of the same rows', async () => {
    expect(rowsOf(await joined(arrowStream(messages())))).toEqual(rowsOf(stream));
  });

  it('is written as a file of the same rows, dictionaries and batches', async () => {
    const file = await joined(arrowFile(messages()));
    expect(RecordBatchReader.from(file).open().isFile()).toBe(true);
    expect(rowsOf(file)).toEqual(rowsOf(stream));
    expect(await joined(arrowStream(readArrow(new ByteReader(inPieces(file, size)))))).toEqual(
      await joined(arrowStream(messages())),
    );
  });
});

describe('what is no Arrow', () => {
  const failure = async (bytes: Uint8Array): Promise<string> => {
    try {
      await joined(arrowStream(readArrow(new ByteReader(inPieces(bytes, 100)))));
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('any more is told at the first byte that is missing', async () => {
    const file = await joined(arrowFile(readArrow(new ByteReader(inPieces(stream, 1000)))));
    for (const cut of [9, 20, 200, file.indexOf('ARROW1', 8) - 400]) {
      expect(await failure(file.subarray(0, cut)), `cut at ${cut}`).toBe('is cut off');
    }
  });

  it('in the middle is told', async () => {
    const garbled = Buffer.from(stream);
    garbled.fill(0x55, 8, 40);
    expect(await failure(garbled)).toBe('is not valid Arrow IPC');
    const endless = Buffer.from(stream);
    endless.writeUInt32LE(0x7fff_ffff, 4);
    expect(await failure(endless)).toBe('is not valid Arrow IPC');
  });

  it('begins without a schema in files of JavaScript, and is told', async () => {
    expect(await failure(tableToIPC(table, 'file'))).toContain('does not begin with its schema');
  });
});
