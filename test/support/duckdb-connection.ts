import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, Session } from '@framehold/duckdb';
import { afterAll } from 'vitest';

/** A connection to a DuckDB of this process, closed after the tests of the file. */
export function duckDbConnection(): Connection {
  const session = new Session({
    threads: 1,
    memoryBytes: 1e9,
    tempDirectory: join(tmpdir(), 'framehold-gate'),
    maxTempBytes: 1e9,
  });
  const connection = session.connect();
  afterAll(() => connection[Symbol.dispose]());
  return connection;
}
