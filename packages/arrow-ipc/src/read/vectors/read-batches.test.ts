import { CodedError, type Column, only } from '@framehold/columns';
import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FrameEngine } from '../../../../../src/core/rows/frame-engine.ts';
import { arrowMessages, arrowStream } from '../../../../../test/support/arbitrary-arrow.ts';
import { anyTable } from '../../../../../test/support/arbitrary-table.ts';
import {
  type ColumnCase,
  caseNamed,
  dictionaryCases,
  nestedCases,
  scalarCases,
} from '../../../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  endOfStream,
  schemaMessage,
} from '../../../../../test/support/arrow-stream-writer.ts';
import { duckDbEngine, newPartPath, readText } from '../../../../../test/support/duckdb-engine.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { createArrowEncoder } from '../../write/arrow-encoder.ts';
import { arrowIpcStream } from '../../write/arrow-stream.ts';
import { type OwnedBatches, readBatches } from './read-batches.ts';

let directory: TemporaryDirectory;
let engine: FrameEngine & AsyncDisposable;
beforeAll(async () => {
  directory = await temporaryDirectory();
  engine = duckDbEngine(directory.path);
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

interface Written {
  readonly columns: readonly Column[];
  readonly text: string;
}

/** A frame of a stream, as the engine writes it; the code of the error where it does not. */
async function written(stream: AsyncIterable<Uint8Array>): Promise<Written | string> {
  const path = newPartPath(directory.path);
  try {
    const part = await engine.write(
      {
        source: { kind: 'arrow', stream },
        path,
        compression: { algorithm: 'snappy', level: undefined },
        compressesLater: true,
      },
      { signal: new AbortController().signal },
    );
    return { columns: part.columns, text: await readText(engine, path, part) };
  } catch (error) {
    if (error instanceof CodedError) return error.code;
    throw error;
  }
}

function encoded({ columns, batches }: OwnedBatches): AsyncIterable<Uint8Array> {
  const messages = batches.map((batch) => {
    const encoder = createArrowEncoder(columns);
    encoder.encodeRows(batch, 0, batch.rows);
    return encoder.takeMessage();
  });
  return arrowIpcStream(columns, messages);
}

/** Compares the rows with those of the engine. False: they are left to the engine. */
async function isReadAlike(bytes: Uint8Array): Promise<boolean> {
  const read = await readBatches(bytes);
  if (read === undefined) return false;
  const expected = await written(only(bytes));
  expect(await written(encoded(read))).toEqual(expected);
  expect(expected).toMatchObject({ columns: read.columns });
  return true;
}

function streamOf({ field, batch, dictionaries = [] }: ColumnCase): Buffer {
  return Buffer.concat([
    schemaMessage([field]),
    ...dictionaries.map((dictionary) => dictionaryMessage(dictionary.id, dictionary.batch, dictionary.isDelta)),
    batchMessage(batch),
    batchMessage(batch),
    endOfStream,
  ]);
}

const leftToEngine = /null$|duration|interval|list|struct|map|union/;

describe('a column is read as the engine keeps it', () => {
  test.each([...scalarCases, ...nestedCases, ...dictionaryCases].map((one) => [one.what, one] as const))(
    '%s',
    async (what, one) => {
      expect(await isReadAlike(streamOf(one))).toBe(
        !leftToEngine.test(what) || what === 'a dictionary that has the null',
      );
    },
  );
});

test('any table is read as the engine keeps it, or left to the engine', async () => {
  let read = 0;
  const property = fc.asyncProperty(anyTable, fc.integer({ min: 1, max: 5 }), async ({ columns, rows }, batchRows) => {
    if (await isReadAlike(arrowStream(arrowMessages(columns, rows, batchRows)))) read++;
  });
  await fc.assert(property, { numRuns: 60 });
  expect(read).toBeGreaterThan(5);
});

test('texts that are called UUID are read where they are written as the engine writes them', async () => {
  const uuids = (...values: string[]): Uint8Array => {
    const metadata = new Map([['ARROW:FLIGHT:SQL:TYPE_NAME', 'UUID']]);
    const schema = new arrow.Schema([new arrow.Field('u', new arrow.Utf8(), true, metadata)]);
    const data = arrow.vectorFromArray(values, new arrow.Utf8()).data[0] as arrow.Data<arrow.Utf8>;
    return arrow.tableToIPC(new arrow.Table(schema, { u: new arrow.Vector([data]) }), 'stream');
  };
  expect(await isReadAlike(uuids('0195f1a2-0000-7abc-8def-0123456789ab'))).toBe(true);
  expect(await isReadAlike(uuids('0195F1A2-0000-7ABC-8DEF-0123456789AB'))).toBe(false);
  expect(await isReadAlike(uuids('0195f1a2'))).toBe(false);
});

test('the batches are in memory of their own, from offset 0', async () => {
  const one = caseNamed('utf8');
  const bytes = streamOf(one);
  const read = await readBatches(bytes);
  bytes.fill(0);
  const texts = read?.batches.map(({ vectors: [vector] }) => Buffer.from(vector?.data ?? []).toString());
  expect(texts).toEqual([one.values.join(''), one.values.join('')]);
  expect(read?.batches[0]?.vectors[0]?.offsets?.[0]).toBe(0);
});

test('a stream without rows has columns and no batches', async () => {
  const { field } = caseNamed('int32');
  expect(await readBatches(Buffer.concat([schemaMessage([field]), endOfStream]))).toMatchObject({ batches: [] });
});

test('a stream that is damaged, cut or empty is left to the engine', async () => {
  const stream = streamOf(caseNamed('utf8'));
  const flipped = Buffer.from(stream).fill(0xff, stream.length - 60, stream.length - 40);
  for (const bytes of [stream.subarray(0, -20), flipped, new Uint8Array(0), Buffer.from('id,name\n1,a\n')]) {
    expect(await readBatches(bytes)).toBeUndefined();
  }
});

test('a few bytes that stand for many are left to the engine', async () => {
  const long = 'x'.repeat(100_000);
  const column = arrow.vectorFromArray(
    Array.from({ length: 1000 }, () => long),
    new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
  );
  expect(await readBatches(arrow.tableToIPC(new arrow.Table({ column }), 'stream'))).toBeUndefined();
});
