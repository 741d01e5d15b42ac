import { open, rename, rm } from 'node:fs/promises';
import { sqlString } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';

/** Makes an empty DuckDB file, whole or not at all. */
export async function createDatabase(connection: Connection, path: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await connection.run(`ATTACH ${sqlString(temporary)} AS created`);
    await connection.run('DETACH created');
    await using file = await open(temporary, 'r+');
    await file.sync();
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
