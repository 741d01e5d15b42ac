import {
  Dictionary,
  Int32,
  type RecordBatch,
  RecordBatchStreamWriter,
  Table,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { anonymous } from '../auth/identify.ts';
import { parseHandle } from '../core/names/handle.ts';
import type { Frames } from '../frames/frames.ts';
import { appendBatches } from './append-batches.ts';
import type { FlightUpload } from './data/flight-sql-port.ts';

test('batches that are read ahead count by the memory that their rows take', async () => {
  const text = 'x'.repeat(1_000_000);
  const type = new Dictionary(new Utf8(), new Int32());
  const [batch] = new Table({
    text: vectorFromArray(
      Array.from({ length: 5 }, () => text),
      type,
    ),
  }).batches;
  const writer = RecordBatchStreamWriter.writeAll(Array.from({ length: 12 }, () => batch as RecordBatch));
  let pieces = 0;
  let isAllRead = false;
  const upload = {
    async *ipcStream() {
      for await (const piece of writer) {
        pieces++;
        yield piece;
      }
      isAllRead = true;
    },
  } as unknown as FlightUpload;
  const stop = new AbortController();
  const frames: Pick<Frames, 'put' | 'refusePut'> = {
    refusePut: async () => {},
    put: () => new Promise((_, reject) => stop.signal.addEventListener('abort', () => reject(stop.signal.reason))),
  };
  const call = { principal: anonymous, signal: stop.signal, lane: '', producer: undefined };
  const answers = appendBatches(frames, { handle: parseHandle('x'), ttlMs: undefined }, upload, call);
  const answered = answers.next().catch((error: unknown) => error);
  for (let before = -1; before < pieces; ) {
    before = pieces;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(isAllRead).toBe(false);
  stop.abort();
  await answered;
});
