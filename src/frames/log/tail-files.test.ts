import { expect, test } from 'vitest';
import type { LogRecord } from './log-record.ts';
import { Tail } from './tail.ts';
import { tailMessages } from './tail-files.ts';

const recordBytes = 100_000;
const file = { name: 'a.log', size: 0 };

function record(firstRow: number): LogRecord {
  return {
    firstRow,
    rows: 1,
    version: firstRow + 1,
    producers: [],
    message: new Uint8Array(recordBytes).fill(firstRow),
  };
}

test('the messages of a tail are its own, also where rows are appended while they are read', () => {
  const tail = Tail.of(0, [0, 1, 2, 3].map(record), [file]);
  const firstBytes: (number | undefined)[] = [];
  let grown = tail;
  for (const { bytes } of tailMessages(tail, 0)) {
    for (let at = 0; at < bytes.length; at += recordBytes) firstBytes.push(bytes[at]);
    grown = grown.with(record(grown.toRow), file);
  }
  expect(firstBytes).toEqual([0, 1, 2, 3]);
  expect([tail.toRow, grown.toRow]).toEqual([4, 6]);
});
