import { expect, test } from 'vitest';
import { dictionaryMessage, type RawField, schemaMessage } from '../../../../../test/support/arrow-stream-writer.ts';
import { messagesOf } from '../../../../../test/support/read-arrow-messages.ts';
import type { ArrowMessage } from '../format/messages.ts';
import { readSchema } from '../format/schema.ts';
import { toDataType } from '../vectors/to-data-type.ts';
import { toVector } from '../vectors/to-vector.ts';
import { valueAt } from '../vectors/value-at.ts';
import { DictionaryStore } from './dictionary-store.ts';

const category: RawField = { name: 'c', type: [5, {}], dictionary: { id: 1, bits: 16, signed: true } };
const none = new Uint8Array(0);

function dictionary(text: string, isDelta: boolean): Uint8Array {
  const offsets = new Uint8Array(Int32Array.of(0, text.length).buffer);
  return dictionaryMessage(1, { rows: 1, nodes: [[1, 0]], buffers: [none, offsets, Buffer.from(text)] }, isDelta);
}

async function storeWith(mostJoinedBytes: number | undefined, ...dictionaries: Uint8Array[]): Promise<DictionaryStore> {
  const [schema, ...rest] = await messagesOf(schemaMessage([category]), ...dictionaries);
  const store = new DictionaryStore(readSchema((schema as ArrowMessage).header), mostJoinedBytes);
  for (const message of rest) store.add(message);
  return store;
}

test('deltas extend a dictionary, and another one replaces it', async () => {
  const store = await storeWith(undefined, dictionary('a', false), dictionary('b', true), dictionary('c', true));
  const values = (of: DictionaryStore): unknown[] => {
    const column = of.columns().get(1);
    const vector = column && toVector(column, toDataType(column.field));
    return Array.from({ length: column?.length ?? 0 }, (_, row) => vector && valueAt(vector, row));
  };
  expect(values(store)).toEqual(['a', 'b', 'c']);
  const [next] = (await messagesOf(schemaMessage([category]), dictionary('d', false))).slice(1);
  store.add(next as ArrowMessage);
  expect(values(store)).toEqual(['d']);
});

test('a dictionary that is extended between all batches is refused before it keeps us busy', async () => {
  const long = dictionary('x'.repeat(1000), false);
  const store = await storeWith(5000, long);
  const [delta] = (await messagesOf(schemaMessage([category]), dictionary('y', true))).slice(1);
  const extend = (): void => {
    store.add(delta as ArrowMessage);
    store.columns();
  };
  for (let n = 0; n < 4; n++) extend();
  expect(extend).toThrow('extended too often');
});

test('deltas without a batch between them are put together once', async () => {
  const deltas = Array.from({ length: 100 }, () => dictionary('y', true));
  const store = await storeWith(5000, dictionary('x'.repeat(1000), false), ...deltas);
  expect(store.columns().get(1)?.length).toBe(101);
});
