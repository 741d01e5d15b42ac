import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { tradesStream } from '../../../test/support/arrow-trades.ts';
import { duckDbEngine, newPartPath, readText, writeSql } from '../../../test/support/duckdb-engine.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { FrameEngine, WrittenPart } from '../../core/rows/frame-engine.ts';
import type { DuckDbEngine, DuckDbEngineOptions } from './duckdb-engine.ts';

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

const newEngine = (options?: Partial<DuckDbEngineOptions>): DuckDbEngine => duckDbEngine(directory.path, options);
const newPath = (): string => newPartPath(directory.path);
const write = (on: FrameEngine, sql: string, path = newPath(), signal = never): Promise<WrittenPart> =>
  writeSql(on, sql, path, signal);

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
    expect(await readText(engine, path, part)).toBe('[1,2,3,4],');
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
    const rows = readText(one, path, part);
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
    await expect(readText(one, path, part)).rejects.toMatchObject({ code: 'sql_timeout' });
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
    expect(await readText(one, path, part)).toBe('[0],[1],[2],');
    goOn();
    expect((await Promise.all(uploads)).map(({ rows }) => rows)).toEqual([1000, 1000, 1000]);
    await vi.waitFor(() => expect(one.pids).toHaveLength(1), { timeout: 10_000 });
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

/** Resolves when the file exists. */
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
