import { arrowFields, schemaMessage, splitMessage } from '@framehold/arrow-ipc';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { expect, test } from 'vitest';
import { flightDataOf } from '../../../test/support/flight-client.ts';
import { UploadCounts } from './upload-counts.ts';

test('columns and rows are counted by the headers of messages', () => {
  const table = tableFromArrays({ id: Int32Array.from({ length: 1000 }, (_, n) => n), text: Array(1000).fill('x') });
  const counts = new UploadCounts();
  for (const { dataHeader } of flightDataOf(tableToIPC(table.concat(table), 'stream'))) counts.add(dataHeader);
  expect(counts).toMatchObject({ columns: 2, rows: 2000 });
});

test('a schema without fields has no columns', () => {
  const counts = new UploadCounts();
  counts.add(splitMessage(schemaMessage([])).header);
  expect(counts).toMatchObject({ columns: 0, rows: 0 });
});

test.each([
  ['nothing', Buffer.alloc(0)],
  ['one byte', Buffer.of(1)],
  ['text', Buffer.from('not an Arrow header at all, but long enough to look like one')],
  ['offsets that lead outside', Buffer.alloc(100, 0xff)],
])('%s counts nothing', (_, header) => {
  const counts = new UploadCounts();
  counts.add(header);
  expect(counts).toMatchObject({ columns: 0, rows: 0 });
});

test('a header with any byte changed is counted or left to the engine, never an error', () => {
  const fields = arrowFields([{ name: 'a', type: { kind: 'utf8' } }]);
  const { header } = splitMessage(schemaMessage(fields));
  for (let at = 0; at < header.length; at++) {
    for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
      const damaged = Uint8Array.from(header);
      damaged[at] = value;
      expect(() => new UploadCounts().add(damaged)).not.toThrow();
    }
  }
});
