import type { Message } from '@framehold/grpc';
import { expect, test } from 'vitest';
import { tableFields, tableWithSchemaFields } from './metadata-schemas.ts';
import { metadataStream } from './metadata-stream.ts';

async function gathered(messages: AsyncIterable<Message>): Promise<number[]> {
  const lengths: number[] = [];
  for await (const message of messages) lengths.push(Buffer.concat([message].flat() as Uint8Array[]).length);
  return lengths;
}
const row = (n: number): unknown[] => ['framehold', 'frames', `t${n}`, 'TABLE'];

test('many rows come in several messages', async () => {
  const rows = Array.from({ length: 2500 }, (_, n) => row(n));
  expect(await gathered(metadataStream(tableFields, rows, ''))).toHaveLength(4);
});

test('long rows come in messages that every client takes', async () => {
  const rows = Array.from({ length: 30 }, (_, n) => [...row(n), new Uint8Array(100_000)]);
  const lengths = await gathered(metadataStream(tableWithSchemaFields, rows, ''));
  expect(lengths.length).toBeGreaterThan(4);
  expect(Math.max(...lengths)).toBeLessThan(2 ** 20);
});

test('no rows are the schema alone', async () => {
  expect(await gathered(metadataStream(tableFields, [], ''))).toHaveLength(1);
});
