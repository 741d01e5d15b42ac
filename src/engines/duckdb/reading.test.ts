import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrowFields, schemaMessage } from '@framehold/arrow-ipc';
import { joinBytes } from '@framehold/columns';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { arrowContents } from '../../../test/support/arrow-values.ts';
import { duckDbEngine, newPartPath, readText, writeSql } from '../../../test/support/duckdb-engine.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { AppError } from '../../core/errors/app-error.ts';
import type { DuckDbEngine } from './duckdb-engine.ts';

const never = new AbortController().signal;

let directory: TemporaryDirectory;
let engine: DuckDbEngine;
beforeAll(async () => {
  directory = await temporaryDirectory();
  engine = duckDbEngine(directory.path, { workers: 2 });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

const newPath = (): string => newPartPath(directory.path);

test('gives any range of rows in the order in which they were written', async () => {
  const path = newPath();
  const part = await writeSql(engine, 'SELECT range AS n FROM range(200_000)', path);
  expect(await readText(engine, path, part, { from: 131_070, to: 131_074 })).toBe(
    '[131070],[131071],[131072],[131073],',
  );
  const all = Array.from({ length: 200_000 }, (_, n) => `[${n}],`).join('');
  expect((await readText(engine, path, part)) === all).toBe(true);
});

test('is not misled by a column that is called as DuckDB calls its row numbers', async () => {
  const path = newPath();
  const part = await writeSql(engine, 'SELECT 1000 - range AS "File_Row_Number" FROM range(1000)', path);
  expect(await readText(engine, path, part, { from: 10, to: 12 })).toBe('[990],[989],');
});

test('goes on across parts', async () => {
  const [first, second] = [newPath(), newPath()];
  const one = await writeSql(engine, 'SELECT range AS n FROM range(3)', first);
  await writeSql(engine, 'SELECT range + 3 AS n FROM range(3)', second);
  const parts = [first, second].map((path) => ({ path, rows: 3 }));
  let text = '';
  for await (const piece of engine.read(
    { parts, columns: one.columns, form: 'exec-json', fromRow: 2, toRow: 5, chunkRows: 4096 },
    { signal: never },
  )) {
    text += Buffer.from(piece.bytes).toString();
  }
  expect(text).toBe('[2],[3],[4],');
});

test('cuts pieces at multiples of the chunk size', async () => {
  const path = newPath();
  const part = await writeSql(engine, 'SELECT range AS n FROM range(10_000)', path);
  const rows: number[] = [];
  const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'exec-json' } as const;
  for await (const piece of engine.read({ ...job, fromRow: 1000, toRow: 9000, chunkRows: 4096 }, { signal: never })) {
    rows.push(piece.rows);
  }
  expect(rows).toEqual([3096, 4096, 808]);
});

test('as Arrow, gives record batches that no multiple of the chunk size lies in', async () => {
  const path = newPath();
  const part = await writeSql(
    engine,
    `SELECT range AS n, CASE WHEN range % 3 > 0 THEN 't' || range END AS t, range % 5 = 0 AS b,
       [range, NULL] AS l, {'a': range::DECIMAL(18, 2)} AS s, MAP {'k': range} AS m,
       TIMESTAMP '2024-01-01' + INTERVAL (range) SECOND AS ts FROM range(70_000)`,
    path,
  );
  const stream = [schemaMessage(arrowFields(part.columns))];
  const ends: number[] = [];
  const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'arrow' } as const;
  for await (const piece of engine.read(
    { ...job, fromRow: 60_001, toRow: 69_000, chunkRows: 65_536 },
    { signal: never },
  )) {
    expect(piece.rowEnds.length).toBe(0);
    ends.push((ends.at(-1) ?? 60_001) + piece.rows);
    stream.push(piece.bytes);
  }
  expect(ends).toContain(65_536);
  expect(ends.at(-1)).toBe(69_000);
  const { rows, batches } = arrowContents(joinBytes(stream), part.columns);
  expect(batches).toHaveLength(ends.length);
  const start = Date.UTC(2024, 0, 1);
  expect(rows).toEqual(
    Array.from({ length: 69_000 - 60_001 }, (_, i) => {
      const n = BigInt(i + 60_001);
      const text = n % 3n > 0n ? `t${n}` : null;
      const time = BigInt(start) * 1000n + n * 1_000_000n;
      return [n, text, n % 5n === 0n, [n, null], [n * 100n], [['k', n]], time];
    }),
  );
});

test.each([1, 300_000])('says where a frame of %i rows ended when more were to come', async (rows) => {
  const path = newPath();
  const part = await writeSql(engine, `SELECT range AS n FROM range(${rows})`, path);
  await expect(readText(engine, path, { ...part, rows: rows + 100_000 })).rejects.toMatchObject({
    code: 'frame_damaged',
    message: `the frame ended at row ${rows}, where ${rows + 100_000} were expected`,
  });
});

test('tells the damage that was met first, and not what was asked for behind it', async () => {
  const path = newPath();
  const part = await writeSql(engine, 'SELECT random() AS n FROM range(500_000)', path);
  await using file = await open(path, 'r+');
  await file.write(Buffer.alloc(100_000, 0xff), 0, 100_000, Math.floor(part.bytes / 2));
  const failure = await readText(engine, path, part).catch((error: AppError) => error);
  expect(failure).toMatchObject({ code: 'frame_damaged' });
  const { message } = (failure as AppError).cause as Error;
  expect(message).toMatch(/DuckDbError|decompress|corrupt/i);
  expect(message).not.toContain('Attempting to execute');
});

test('a reader that stops early leaves the worker fit for the next job', async () => {
  const path = newPath();
  const part = await writeSql(engine, 'SELECT range AS n FROM range(2_000_000)', path);
  const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'exec-json' } as const;
  for await (const _ of engine.read({ ...job, fromRow: 0, toRow: part.rows, chunkRows: 4096 }, { signal: never }))
    break;
  expect(await readText(engine, path, part, { from: 0, to: 1 })).toBe('[0],');
});

/** In two pieces, the second one later than a cancelled job may end. */
async function* slowly(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 8);
  await sleep(1300);
  yield bytes.subarray(8);
}

test('a reader that is cancelled when all has come costs the next job nothing', async () => {
  await using one = duckDbEngine(directory.path);
  const path = newPath();
  const part = await writeSql(one, 'SELECT range AS n FROM range(10)', path);
  const before = one.pids;
  const abort = new AbortController();
  const job = { parts: [{ path, rows: 10 }], columns: part.columns, form: 'exec-json' } as const;
  const rows = one.read({ ...job, fromRow: 0, toRow: 10, chunkRows: 4096 }, { signal: abort.signal });
  const reader = rows[Symbol.asyncIterator]();
  await reader.next();
  // The end of the job follows its rows immediately.
  await sleep(100);
  abort.abort();
  await reader.next().catch(() => {});
  const source = { kind: 'arrow', stream: slowly(schemaMessage(arrowFields(part.columns))) } as const;
  const compression = { algorithm: 'zstd', level: 1 } as const;
  await one.write({ source, path: newPath(), compression }, { signal: never });
  // While the upload was slow, another one was made ready.
  await vi.waitFor(() => expect(one.pids).toEqual(before), { timeout: 10_000 });
});
