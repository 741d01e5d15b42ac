import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { schemaMessage } from '../../encoding/arrow/schema-message.ts';
import { IpcCounts } from './ipc-counts.ts';

const table = tableFromArrays({ id: Int32Array.from({ length: 1000 }, (_, n) => n), text: Array(1000).fill('x') });
const ipc = tableToIPC(table.concat(table), 'stream');

test.each([1, 7, 64, 1000, ipc.length])('columns and rows are counted in pieces of %i bytes', (size) => {
  const counts = new IpcCounts();
  for (let at = 0; at < ipc.length; at += size) counts.add(ipc.subarray(at, at + size));
  expect(counts).toMatchObject({ columns: 2, rows: 2000 });
});

test('a schema without fields has no columns', () => {
  const counts = new IpcCounts();
  counts.add(schemaMessage([]));
  expect(counts).toMatchObject({ columns: 0, rows: 0 });
});

test('what is no Arrow stream counts nothing and is passed on', async () => {
  const counts = new IpcCounts();
  const junk = Buffer.from('not an arrow stream at all, but long enough to look like one');
  const passed: Uint8Array[] = [];
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield junk;
    yield Buffer.alloc(100, 0xff);
  }
  for await (const chunk of counts.counting(stream())) passed.push(chunk);
  expect(passed[0]).toBe(junk);
  expect(counts).toMatchObject({ columns: 0, rows: 0 });
});
