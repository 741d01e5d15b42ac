import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '@framehold/columns';
import { Session } from '@framehold/duckdb';
import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { dictionaryCases, nestedCases, scalarCases } from '../../../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  endOfStream,
  schemaMessage,
} from '../../../../../test/support/arrow-stream-writer.ts';
import { loadArrowStream } from './arrow-to-table.ts';

/** Raise it by hand for a longer hunt: ARROW_DAMAGE_RUNS=100000 npx vitest run arrow-load-damage. */
const runs = Number(process.env.ARROW_DAMAGE_RUNS ?? 120);

const session = new Session({
  threads: 1,
  memoryBytes: 1e9,
  tempDirectory: join(tmpdir(), 'framehold-arrow-damage'),
  maxTempBytes: 1e8,
});
const connection = session.connect();
afterAll(() => connection[Symbol.dispose]());

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Loads the stream and reads every value of it, in forms that read all its bytes. */
async function outcome(bytes: Uint8Array): Promise<'loaded' | CodedError> {
  try {
    await using table = await loadArrowStream(connection, once(bytes));
    const columns = table.names.map(
      (_, index) => `hash(c${index}) AS h${index}, length(c${index}::VARCHAR) AS l${index}`,
    );
    await connection.run(`SELECT ${columns.join(', ')} FROM ${table.sql}`);
    return 'loaded';
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
}

const flips = (length: number): fc.Arbitrary<[number, number][]> =>
  fc.array(fc.tuple(fc.nat(length - 1), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 4 });

function damaged(bytes: Uint8Array, changes: readonly [number, number][]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (const [at, mask] of changes) copy[at] = (copy[at] as number) ^ mask;
  return copy;
}

const cases = [...scalarCases, ...nestedCases, ...dictionaryCases];
const streams = cases.map(({ what, field, batch, dictionaries = [] }) => {
  const parts = dictionaries.map((one) => dictionaryMessage(one.id, one.batch, one.isDelta));
  return [what, Buffer.concat([schemaMessage([field]), ...parts, batchMessage(batch), endOfStream])] as const;
});

describe('a damaged stream is refused with an CodedError, or it is another valid stream', () => {
  test.each(streams)('%s', async (_, stream) => {
    const property = fc.asyncProperty(flips(stream.length), async (changes) => {
      await outcome(damaged(stream, changes));
    });
    await fc.assert(property, { numRuns: Math.ceil(runs / 10) });
  });

  test('a stream of apache-arrow with many columns', async () => {
    const table = new arrow.Table({
      n: arrow.vectorFromArray([1, null, 3], new arrow.Int32()),
      s: arrow.vectorFromArray(['a', null, 'a longer text than that']),
      u: arrow.vectorFromArray(['a', null, 'a longer text than that'], new arrow.Utf8()),
      l: arrow.vectorFromArray([[1], null, [2, 3]], new arrow.List(new arrow.Field('item', new arrow.Float64(), true))),
    });
    const stream = arrow.tableToIPC(table, 'stream');
    expect(await outcome(stream)).toBe('loaded');
    const property = fc.asyncProperty(flips(stream.length), async (changes) => {
      await outcome(damaged(stream, changes));
    });
    await fc.assert(property, { numRuns: runs });
  });
});

test('a stream cut anywhere but between its messages is refused', async () => {
  const [, stream] = streams.find(([what]) => what === 'a dictionary with a delta') as (typeof streams)[number];
  const whole: number[] = [];
  for (let length = 0; length < stream.length; length++) {
    if ((await outcome(stream.subarray(0, length))) === 'loaded') whole.push(length);
  }
  // After the schema, each dictionary, and the batch.
  expect(whole).toHaveLength(4);
});
