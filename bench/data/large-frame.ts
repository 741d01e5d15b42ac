import { copyFile, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '../../src/core/logs/logger.ts';
import { demoFrames } from '../../src/demo/demo-frames.ts';
import { DuckDbEngine } from '../../src/engines/duckdb/duckdb-engine.ts';
import { tradeRows } from '../harness/lab.ts';

/** Puts the demo's trades, but more of them, into the cold directory as a file from outside. */
export async function makeTrades(dataDir: string, handle: string, rows: number): Promise<void> {
  await makeFrames(dataDir, [{ handle, sql: tradesSql(rows) }]);
}

/** Puts the rows of DuckDB's SQL into the cold directory, as files from outside. */
export async function makeFrames(
  dataDir: string,
  frames: Iterable<{ readonly handle: string; readonly sql: string }>,
): Promise<void> {
  const cold = join(dataDir, 'cold');
  await mkdir(cold, { recursive: true });
  await using engine = new DuckDbEngine({
    workers: 1,
    threads: 2,
    memoryBytes: 4e9,
    tempDirectory: join(dataDir, 'bench-spill'),
    maxTempBytes: 10_000_000_000,
    maxQueue: 1,
    timeoutMs: 0,
    logger: silentLogger,
  });
  const compression = { algorithm: 'zstd', level: 3 } as const;
  for (const { handle, sql } of frames) {
    const path = join(dataDir, `${handle}.parquet`);
    await engine.write({ source: { kind: 'sql', sql }, path, compression }, { signal: new AbortController().signal });
    await rename(path, join(cold, `${handle}.parquet`));
  }
}

function tradesSql(rows: number): string {
  const sql = demoFrames.find(({ handle }) => handle === 'trades')?.sql ?? '';
  const larger = sql.replace(`range(${tradeRows})`, `range(${rows})`);
  if (rows !== tradeRows && larger === sql) throw new Error('the SQL of the demo frame trades has changed');
  return larger;
}

/** `count` small frames, `frame_0` and on. One is made, the others are copies of its file. Returns their names. */
export async function makeSmallFrames(dataDir: string, count: number): Promise<readonly string[]> {
  const cold = join(dataDir, 'cold');
  await makeTrades(dataDir, 'frame_0', 100);
  const names = Array.from({ length: count }, (_, at) => `frame_${at}`);
  for (const name of names.slice(1)) await copyFile(join(cold, 'frame_0.parquet'), join(cold, `${name}.parquet`));
  return names;
}
