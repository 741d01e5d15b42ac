import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Column } from '@framehold/columns';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { anonymous } from '../../src/auth/identify.ts';
import { ByteCache } from '../../src/cache/byte-cache.ts';
import type { Principal } from '../../src/core/callers/principal.ts';
import { silentLogger } from '../../src/core/logs/logger.ts';
import { type Handle, parseHandle } from '../../src/core/names/handle.ts';
import type { FrameEngine } from '../../src/core/rows/frame-engine.ts';
import { DuckDbEngine } from '../../src/engines/duckdb/duckdb-engine.ts';
import type { FrameReader } from '../../src/frames/read/frame-reader.ts';
import { type FrameStore, type FrameStoreOptions, openFrameStore } from '../../src/frames/store.ts';
import type { PutRequest } from '../../src/frames/write/put-frame.ts';
import { privateFiles } from './private-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from './temporary-directory.ts';
import { vectorOf } from './vector-of.ts';

type StoreOptions = Partial<FrameStoreOptions> & { readonly cacheBytes?: number };

export const never = new AbortController().signal;
setMaxListeners(0, never);

/** An engine, a directory, and stores on it that can be opened one after the other. */
class StoreBench implements AsyncDisposable {
  readonly engine: DuckDbEngine;
  readonly #directory: TemporaryDirectory;
  readonly #open = new Set<FrameStore>();
  readonly #written = new Map<string, Promise<string>>();
  #cold = 0;

  private constructor(directory: TemporaryDirectory) {
    this.#directory = directory;
    this.engine = new DuckDbEngine({
      workers: 2,
      threads: 1,
      memoryBytes: 500_000_000,
      tempDirectory: join(directory.path, 'spill'),
      maxTempBytes: 10_000_000_000,
      maxQueue: 1000,
      timeoutMs: 60_000,
      logger: silentLogger,
    });
  }

  static async start(): Promise<StoreBench> {
    return new StoreBench(await temporaryDirectory());
  }

  /** Another, empty directory for the stores opened from now on. */
  fresh(): void {
    this.#cold++;
  }

  get cold(): string {
    return join(this.#directory.path, `cold-${this.#cold}`);
  }

  path(...names: string[]): string {
    return join(this.cold, ...names);
  }

  async open({ cacheBytes = 64_000_000, ...options }: StoreOptions = {}): Promise<FrameStore> {
    const store = await openFrameStore({
      coldDirectory: this.cold,
      engine: this.engine,
      backgroundEngine: this.engine,
      cache: new ByteCache(cacheBytes),
      compression: { algorithm: 'zstd', level: 1 },
      tombstoneTtlMs: 3_600_000,
      logger: silentLogger,
      ...options,
    });
    this.#open.add(store);
    return store;
  }

  async close(store: FrameStore): Promise<void> {
    this.#open.delete(store);
    await store[Symbol.asyncDispose]();
  }

  async closeAll(): Promise<void> {
    for (const store of this.#open) await this.close(store);
  }

  /** Names in one of the private folders. */
  async left(folder: 'tmp' | 'pins' | 'manifests' | 'pending' | 'tombstones'): Promise<string[]> {
    return privateFiles(this.cold, folder);
  }

  /** A Parquet file made without the store. The same rows are written once, and copied. */
  async parquet(path: string, sql: string): Promise<void> {
    let written = this.#written.get(sql);
    if (written === undefined) {
      written = this.#write(join(this.#directory.path, `rows-${this.#written.size}.parquet`), sql);
      this.#written.set(sql, written);
    }
    // As DuckDB does it: another file replaces an existing one.
    const next = existsSync(path) ? join(this.#directory.path, 'next.parquet') : path;
    await copyFile(await written, next);
    if (next !== path) await rename(next, path);
  }

  async #write(path: string, sql: string): Promise<string> {
    const compression = { algorithm: 'zstd', level: 1 } as const;
    await this.engine.write({ source: { kind: 'sql', sql }, path, compression }, { signal: never });
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeAll();
    await this.engine[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }
}

/** For the tests of the file: each has an empty directory, and its stores are closed behind it. */
export async function useStoreBench(): Promise<StoreBench> {
  const bench = await StoreBench.start();
  beforeEach(() => bench.fresh());
  afterEach(() => bench.closeAll());
  afterAll(() => bench[Symbol.asyncDispose]());
  return bench;
}

export function put(
  store: FrameStore,
  handle: string,
  sql: string,
  options: Partial<Pick<PutRequest, 'mode' | 'ttlMs' | 'replaces' | 'definition'>> & { principal?: Principal } = {},
) {
  const { mode = 'create', principal = anonymous, ttlMs, replaces, definition } = options;
  return store.put(
    principal,
    { handle: parseHandle(handle), mode, ttlMs, replaces, definition, source: { kind: 'sql', sql } },
    { signal: never },
  );
}

export function open(store: FrameStore, handle: string, principal = anonymous): Promise<FrameReader> {
  return store.open(principal, handle as Handle, { signal: never });
}

/** The rows that a reader gives, as values. */
export async function rowsOf(reader: FrameReader, from = 0, to = reader.rows): Promise<unknown[][]> {
  const pieces: Uint8Array[] = [];
  let rows = 0;
  for await (const piece of reader.rowsEncoded('exec-json', from, to, { signal: never })) {
    pieces.push(piece.bytes);
    rows += piece.rows;
  }
  const text = Buffer.concat(pieces).toString();
  const values = JSON.parse(`[${text.slice(0, -1)}]`) as unknown[][];
  if (values.length !== rows) throw new Error(`${values.length} rows came, ${rows} were said to`);
  return values;
}

/** The values of the first column of a frame. */
export async function firstColumn(store: FrameStore, handle: string, principal = anonymous): Promise<unknown[]> {
  await using reader = await open(store, handle, principal);
  return (await rowsOf(reader)).map(([first]) => first);
}

export interface EngineCalls {
  probe: number;
  read: number;
  write: number;
  hasChecksum: number;
}

/** An engine that counts its calls. */
export function counting(engine: FrameEngine): { readonly engine: FrameEngine; readonly calls: EngineCalls } {
  const calls: EngineCalls = { probe: 0, read: 0, write: 0, hasChecksum: 0 };
  return {
    calls,
    engine: {
      probe: (...args) => {
        calls.probe++;
        return engine.probe(...args);
      },
      read: (...args) => {
        calls.read++;
        return engine.read(...args);
      },
      write: (...args) => {
        calls.write++;
        return engine.write(...args);
      },
      countChanges: (...args) => engine.countChanges(...args),
      hasChecksum: (...args) => {
        calls.hasChecksum++;
        return engine.hasChecksum(...args);
      },
    },
  };
}

/** Waits until `condition` holds. */
export async function eventually(condition: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`did not happen within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The `code` of a promise's rejection. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return (error as { code?: unknown }).code ?? error;
  }
  throw new Error('it did not reject');
}

const numbers: readonly Column[] = [
  { name: 'a', type: { kind: 'int', bits: 32, signed: true } },
  { name: 't', type: { kind: 'utf8' } },
];

/** Appends rows in memory: each number, and a text of it. `SELECT 1::INTEGER AS a, 'row 1' AS t` makes a frame that takes them. */
export function append(
  store: FrameStore,
  handle: string,
  values: readonly number[],
  options: Partial<Pick<PutRequest, 'producer' | 'definition'>> & { principal?: Principal } = {},
) {
  const { principal = anonymous, ...rest } = options;
  const texts = values.map((value) => `row ${value}`);
  const vectors = [vectorOf({ kind: 'int', bits: 32, signed: true }, values), vectorOf({ kind: 'utf8' }, texts)];
  const batch = { columns: numbers, rows: values.length, vectors };
  return store.put(
    principal,
    { handle: parseHandle(handle), mode: 'append', source: { kind: 'batch', batch }, ...rest },
    { signal: never },
  );
}
