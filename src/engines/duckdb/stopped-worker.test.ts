import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { silentLogger } from '../../core/logs/logger.ts';
import { DuckDbEngine } from './duckdb-engine.ts';

test('a write whose process stands still fails in time, and the next one works', { timeout: 60_000 }, async () => {
  await using directory = await temporaryDirectory();
  await using engine = new DuckDbEngine({
    workers: 1,
    threads: 1,
    memoryBytes: 500_000_000,
    tempDirectory: join(directory.path, 'spill'),
    maxTempBytes: 10_000_000_000,
    maxQueue: 10,
    timeoutMs: 1000,
    logger: silentLogger,
  });
  const write = (name: string) =>
    engine.write(
      {
        source: { kind: 'sql', sql: 'SELECT 1 AS a' },
        path: join(directory.path, name),
        compression: { algorithm: 'zstd', level: 1 },
      },
      { signal: new AbortController().signal },
    );
  await write('first.parquet');
  for (const pid of engine.pids) process.kill(pid, 'SIGSTOP');
  await expect(write('second.parquet')).rejects.toMatchObject({ code: 'engine_crashed' });
  expect(await write('third.parquet')).toMatchObject({ rows: 1 });
});
