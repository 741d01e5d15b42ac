import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { tradesStream } from '../../../test/support/arrow-trades.ts';
import { arrowContents } from '../../../test/support/arrow-values.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { EncodedRows, FrameEngine, WrittenPart } from '../../core/frame-engine.ts';
import { silentLogger } from '../../core/logger.ts';
import { arrowFields } from '../../encoding/arrow/arrow-columns.ts';
import { joinBytes } from '../../encoding/arrow/join-bytes.ts';
import { schemaMessage } from '../../encoding/arrow/schema-message.ts';
import { DuckDbEngine, type DuckDbEngineOptions } from './duckdb-engine.ts';

const compression = { algorithm: 'zstd', level: 1 } as const;
const never = new AbortController().signal;
const endlessSql = 'SELECT sum(a.range * b.range) AS s FROM range(10_000_000) a, range(10_000_000) b';

let directory: TemporaryDirectory;
let engine: DuckDbEngine;
beforeAll(async () => {
  directory = await temporaryDirectory();
  engine = newEngine({ workers: 2 });
});
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

function newEngine(options: Partial<DuckDbEngineOptions> = {}): DuckDbEngine {
  return new DuckDbEngine({
    workers: 1,
    threads: 1,
    memoryBytes: 500_000_000,
    tempDirectory: join(directory.path, 'spill'),
    maxTempBytes: 10_000_000_000,
    maxQueue: 100,
    timeoutMs: 20_000,
    logger: silentLogger,
    ...options,
  });
}

let files = 0;
const newPath = (): string => join(directory.path, `part-${files++}.parquet`);

async function write(on: FrameEngine, sql: string, path = newPath(), signal = never): Promise<WrittenPart> {
  return await on.write({ source: { kind: 'sql', sql }, path, compression }, { signal });
}

async function read(
  on: FrameEngine,
  path: string,
  part: WrittenPart,
  range = { from: 0, to: part.rows },
): Promise<string> {
  const pieces: EncodedRows[] = [];
  const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'exec-json' } as const;
  for await (const piece of on.read(
    { ...job, fromRow: range.from, toRow: range.to, chunkRows: 4096 },
    { signal: never },
  )) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces.map((piece) => piece.bytes)).toString();
}

describe('writing', () => {
  test('gives rows, columns, size and checksum of the file that lies on disk', async () => {
    const path = newPath();
    const part = await write(engine, "SELECT range AS n, 'x' || range AS t FROM range(10_000)", path);
    expect(part).toMatchObject({
      rows: 10_000,
      columns: [
        { name: 'n', type: { kind: 'int', bits: 64, signed: true } },
        { name: 't', type: { kind: 'utf8' } },
      ],
    });
    expect(await engine.hasChecksum(path, part.checksum, { signal: never })).toBe(true);
  });

  test('keeps column names that repeat or differ only in case', async () => {
    const path = newPath();
    const part = await write(engine, 'SELECT 1 AS a, 2 AS "A", 3 AS a, 4 AS "a\nb""c"', path);
    expect(part.columns.map((column) => column.name)).toEqual(['a', 'A', 'a', 'a\nb"c']);
    expect(await read(engine, path, part)).toBe('[1,2,3,4],');
  });

  test.each([
    ["SELECT INTERVAL '1 microsecond' AS i", 'column "i" holds an interval finer than milliseconds'],
    ["SELECT INTERVAL '-1 day' AS i", 'column "i" holds a negative interval'],
    [
      'SELECT 170141183460469231731687303715884105727::HUGEINT AS h',
      'column "h" holds an integer of more than 38 digits',
    ],
    ["SELECT INTERVAL '2000 hours' AS i", 'column "i" holds a time of 2^32 milliseconds or more in an interval'],
    ["SELECT [INTERVAL '1 microsecond'] AS l", 'column "l" holds INTERVAL values inside INTERVAL[]'],
    ['SELECT {h: 1::HUGEINT} AS s', 'column "s" holds HUGEINT values inside STRUCT'],
  ])('refuses what Parquet would lose: %s', async (sql, message) => {
    const path = newPath();
    await expect(write(engine, sql, path)).rejects.toMatchObject({
      code: 'unsupported_type',
      message: expect.stringContaining(message),
    });
    await expect(access(path)).rejects.toThrow();
  });

  test('leaves no file behind when it is cancelled', async () => {
    const path = newPath();
    const abort = new AbortController();
    const written = write(engine, 'SELECT range AS n FROM range(500_000_000)', path, abort.signal);
    await appears(path);
    abort.abort();
    await expect(written).rejects.toMatchObject({ name: 'AbortError' });
    expect((await readdir(directory.path)).filter((name) => join(directory.path, name) === path)).toEqual([]);
  });
});

describe('reading', () => {
  test('gives any range of rows in the order in which they were written', async () => {
    const path = newPath();
    const part = await write(engine, 'SELECT range AS n FROM range(200_000)', path);
    expect(await read(engine, path, part, { from: 131_070, to: 131_074 })).toBe('[131070],[131071],[131072],[131073],');
    const all = await read(engine, path, part);
    expect(JSON.parse(`[${all.slice(0, -1)}]`)).toEqual(Array.from({ length: 200_000 }, (_, n) => [n]));
  });

  test('is not misled by a column that is called as DuckDB calls its row numbers', async () => {
    const path = newPath();
    const part = await write(engine, 'SELECT 1000 - range AS "File_Row_Number" FROM range(1000)', path);
    expect(await read(engine, path, part, { from: 10, to: 12 })).toBe('[990],[989],');
  });

  test('goes on across parts', async () => {
    const [first, second] = [newPath(), newPath()];
    const one = await write(engine, 'SELECT range AS n FROM range(3)', first);
    await write(engine, 'SELECT range + 3 AS n FROM range(3)', second);
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
    const part = await write(engine, 'SELECT range AS n FROM range(10_000)', path);
    const rows: number[] = [];
    const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'exec-json' } as const;
    for await (const piece of engine.read({ ...job, fromRow: 1000, toRow: 9000, chunkRows: 4096 }, { signal: never })) {
      rows.push(piece.rows);
    }
    expect(rows).toEqual([3096, 4096, 808]);
  });

  test('as Arrow, gives record batches that no multiple of the chunk size lies in', async () => {
    const path = newPath();
    const part = await write(
      engine,
      `SELECT range AS n, CASE WHEN range % 3 > 0 THEN 't' || range END AS t, range % 5 = 0 AS b,
         [range, NULL] AS l, {'a': range::DECIMAL(18, 2)} AS s, MAP {'k': range} AS m,
         TIMESTAMP '2024-01-01' + INTERVAL (range) SECOND AS ts FROM range(100_000)`,
      path,
    );
    const stream = [schemaMessage(arrowFields(part.columns))];
    const ends: number[] = [];
    const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'arrow' } as const;
    for await (const piece of engine.read(
      { ...job, fromRow: 1001, toRow: 90_000, chunkRows: 65_536 },
      { signal: never },
    )) {
      expect(piece.rowEnds.length).toBe(0);
      ends.push((ends.at(-1) ?? 1001) + piece.rows);
      stream.push(piece.bytes);
    }
    expect(ends).toContain(65_536);
    expect(ends.at(-1)).toBe(90_000);
    const { rows, batches } = arrowContents(joinBytes(stream), part.columns);
    expect(batches).toHaveLength(ends.length);
    const start = Date.UTC(2024, 0, 1);
    expect(rows).toEqual(
      Array.from({ length: 90_000 - 1001 }, (_, i) => {
        const n = BigInt(i + 1001);
        const text = n % 3n > 0n ? `t${n}` : null;
        const time = BigInt(start) * 1000n + n * 1_000_000n;
        return [n, text, n % 5n === 0n, [n, null], [n * 100n], [['k', n]], time];
      }),
    );
  });

  test('says that a frame is damaged when rows are missing', async () => {
    const path = newPath();
    const part = await write(engine, 'SELECT 1 AS n', path);
    await expect(read(engine, path, { ...part, rows: 2 })).rejects.toMatchObject({ code: 'frame_damaged' });
  });

  test('a reader that stops early leaves the worker fit for the next job', async () => {
    const path = newPath();
    const part = await write(engine, 'SELECT range AS n FROM range(2_000_000)', path);
    const job = { parts: [{ path, rows: part.rows }], columns: part.columns, form: 'exec-json' } as const;
    for await (const _ of engine.read({ ...job, fromRow: 0, toRow: part.rows, chunkRows: 4096 }, { signal: never }))
      break;
    expect(await read(engine, path, part, { from: 0, to: 1 })).toBe('[0],');
  });

  test('a reader that is cancelled when all has come costs the next job nothing', async () => {
    await using one = newEngine();
    const path = newPath();
    const part = await write(one, 'SELECT range AS n FROM range(10)', path);
    const before = one.pids;
    const abort = new AbortController();
    const job = { parts: [{ path, rows: 10 }], columns: part.columns, form: 'exec-json' } as const;
    const rows = one.read({ ...job, fromRow: 0, toRow: 10, chunkRows: 4096 }, { signal: abort.signal });
    const reader = rows[Symbol.asyncIterator]();
    await reader.next();
    // The job's end comes right behind its rows.
    await sleep(100);
    abort.abort();
    await reader.next().catch(() => {});
    const longerThanACancelledJobMayTake = 'SELECT sum(a.range * b.range) AS s FROM range(8000) a, range(60_000) b';
    await write(one, longerThanACancelledJobMayTake);
    expect(one.pids).toEqual(before);
  });
});

test('what is not Parquet is refused without naming our paths', async () => {
  const error = await engine.probe(join(directory.path, 'absent.parquet'), { signal: never }).catch((e: unknown) => e);
  expect(error).toMatchObject({ code: 'invalid_input' });
  expect((error as Error).message).not.toContain(directory.path);
});

describe('a worker in trouble', () => {
  test('a worker that dies costs its own job an error and nothing else', async () => {
    await using one = newEngine();
    await write(one, 'SELECT 1 AS n');
    const doomed = write(one, endlessSql);
    const [pid] = one.pids;
    process.kill(pid as number, 'SIGKILL');
    await expect(doomed).rejects.toMatchObject({ code: 'engine_crashed', retryAfterSeconds: 1 });
    expect((await write(one, 'SELECT 2 AS n')).rows).toBe(1);
    expect(one.pids).not.toContain(pid);
  });

  test('SQL that crashes DuckDB ends one worker, and the pool goes on', async () => {
    await using one = newEngine();
    const crash = "SELECT json_structure(repeat('[', 5_000_000) || repeat(']', 5_000_000)) AS j";
    await expect(write(one, crash)).rejects.toMatchObject({ code: 'engine_crashed' });
    expect((await write(one, 'SELECT 2 AS n')).rows).toBe(1);
  });

  test('a read under a worker that dies runs once more on another', async () => {
    await using one = newEngine();
    const path = newPath();
    const part = await write(one, 'SELECT range AS n FROM range(10)', path);
    const [pid] = one.pids;
    process.kill(pid as number, 'SIGSTOP');
    const rows = read(one, path, part);
    process.kill(pid as number, 'SIGKILL');
    expect(await rows).toContain('[9],');
  });

  test('a worker that does not stop when told to is killed', async () => {
    await using one = newEngine();
    await write(one, 'SELECT 1 AS n');
    const [pid] = one.pids;
    const abort = new AbortController();
    const path = newPath();
    const doomed = write(one, 'SELECT range AS n FROM range(500_000_000)', path, abort.signal);
    await appears(path);
    process.kill(pid as number, 'SIGSTOP');
    abort.abort();
    await expect(doomed).rejects.toMatchObject({ name: 'AbortError' });
    expect((await write(one, 'SELECT 2 AS n')).rows).toBe(1);
    expect(one.pids).not.toContain(pid);
  });

  test('a read past its time is stopped', async () => {
    await using one = newEngine({ timeoutMs: 300 });
    const path = newPath();
    const part = await write(one, 'SELECT 1 AS n', path);
    process.kill(one.pids[0] as number, 'SIGSTOP');
    await expect(read(one, path, part)).rejects.toMatchObject({ code: 'sql_timeout' });
  });

  test('a write takes as long as it needs', async () => {
    await using one = newEngine({ timeoutMs: 1 });
    expect((await write(one, 'SELECT range AS n FROM range(1_000_000)')).rows).toBe(1_000_000);
  });

  test('uploads whose clients send nothing keep nobody from reading, and end up whole', async () => {
    await using one = newEngine();
    const path = newPath();
    const part = await write(one, 'SELECT range AS n FROM range(3)', path);
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    async function* slowly(): AsyncGenerator<Uint8Array> {
      const [schema, ...rest] = tradesStream(1000, 100);
      yield schema ?? new Uint8Array(0);
      await gate;
      yield* rest;
    }
    const uploads = [1, 2, 3].map(() =>
      one.write({ source: { kind: 'arrow', stream: slowly() }, path: newPath(), compression }, { signal: never }),
    );
    expect(await read(one, path, part)).toBe('[0],[1],[2],');
    goOn();
    expect((await Promise.all(uploads)).map(({ rows }) => rows)).toEqual([1000, 1000, 1000]);
    await vi.waitFor(() => expect(one.pids).toHaveLength(1), { timeout: 5000 });
  });

  test('an upload that fails when its job is over does not touch the next job of that worker', async () => {
    await using one = newEngine();
    let fail = (): void => {};
    async function* garbageThenFailure(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('this is no Arrow stream, and the client has not noticed yet');
      await new Promise<void>((_, reject) => {
        fail = () => reject(new Error('the client left'));
      });
    }
    const source = { kind: 'arrow', stream: garbageThenFailure() } as const;
    const refused = one.write({ source, path: newPath(), compression }, { signal: never });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
    const path = newPath();
    const next = write(one, 'SELECT range AS n FROM range(3_000_000)', path);
    await appears(path);
    fail();
    expect((await next).rows).toBe(3_000_000);
  });

  test('workers that spill to disk at the same time do not disturb each other, and leave nothing', async () => {
    const tempDirectory = join(directory.path, 'shared-spill');
    {
      await using two = newEngine({ workers: 2, memoryBytes: 60_000_000, tempDirectory });
      const sorted = 'SELECT hash(range) AS h, range AS n FROM range(3_000_000) ORDER BY h';
      const parts = await Promise.all([write(two, sorted), write(two, sorted)]);
      expect(parts.map((part) => part.rows)).toEqual([3_000_000, 3_000_000]);
      expect(parts[0]?.checksum).toBe(parts[1]?.checksum);
    }
    expect(await readdir(tempDirectory)).toEqual([]);
  });

  test('a memory bomb ends in an error, not in the memory of the machine', async () => {
    await using one = newEngine();
    const bomb = 'SELECT len(range(1_000_000_000)) AS n';
    await expect(write(one, bomb)).rejects.toMatchObject({
      code: expect.stringMatching(/^(sql_out_of_memory|engine_crashed)$/),
    });
    expect((await write(one, 'SELECT 2 AS n')).rows).toBe(1);
  });

  test('a full queue refuses at once', async () => {
    await using one = newEngine({ maxQueue: 1 });
    const abort = new AbortController();
    const jobs = [0, 1].map(() => write(one, endlessSql, newPath(), abort.signal));
    jobs.push(write(one, endlessSql, newPath(), abort.signal));
    const refused = await Promise.race(jobs.map((job) => job.catch((error: unknown) => error)));
    expect(refused).toMatchObject({ code: 'overloaded', retryAfterSeconds: 1 });
    abort.abort();
    await Promise.allSettled(jobs);
  });

  test('closing the pool leaves no process', async () => {
    const one = newEngine({ workers: 2 });
    await write(one, 'SELECT 1 AS n');
    const pids = one.pids;
    expect(pids.length).toBe(2);
    await one[Symbol.asyncDispose]();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

/** Resolves when the file is there. */
async function appears(path: string): Promise<void> {
  for (;;) {
    try {
      await access(path);
      return;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
