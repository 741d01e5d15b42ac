import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { silentLogger } from '../../src/core/logs/logger.ts';
import type { FrameEngine, WrittenPart } from '../../src/core/rows/frame-engine.ts';
import { DuckDbEngine, type DuckDbEngineOptions } from '../../src/engines/duckdb/duckdb-engine.ts';

const compression = { algorithm: 'zstd', level: 1 } as const;
const never = new AbortController().signal;

/** With one worker, and its spill in that folder, by default. */
export function duckDbEngine(folder: string, options: Partial<DuckDbEngineOptions> = {}): DuckDbEngine {
  return new DuckDbEngine({
    workers: 1,
    threads: 1,
    memoryBytes: 500_000_000,
    tempDirectory: join(folder, 'spill'),
    maxTempBytes: 10_000_000_000,
    maxQueue: 100,
    timeoutMs: 60_000,
    logger: silentLogger,
    ...options,
  });
}

export function newPartPath(folder: string): string {
  return join(folder, `part-${randomUUID()}.parquet`);
}

export async function writeSql(
  engine: FrameEngine,
  sql: string,
  path: string,
  signal: AbortSignal = never,
): Promise<WrittenPart> {
  return await engine.write({ source: { kind: 'sql', sql }, path, compression }, { signal });
}

/** Rows of a part in the form exec-json. */
export async function readText(
  engine: FrameEngine,
  path: string,
  { rows, columns }: Pick<WrittenPart, 'rows' | 'columns'>,
  range = { from: 0, to: rows },
): Promise<string> {
  const job = { parts: [{ path, rows }], columns, form: 'exec-json', chunkRows: 4096 } as const;
  let text = '';
  for await (const { bytes } of engine.read({ ...job, fromRow: range.from, toRow: range.to }, { signal: never })) {
    text += Buffer.from(bytes).toString();
  }
  return text;
}
