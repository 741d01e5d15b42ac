import { rm } from 'node:fs/promises';
import type { PartSource } from '../../../core/frame-engine.ts';
import { sqlString } from '../sql-text.ts';
import { parquetRelation } from './parquet-relation.ts';
import type { Connection } from './session.ts';

/**
 * Copies are there to be read fast: without these they take three times the room, which the budget bounds, and the queries
 * of TPC-H a fifth less time. What is left (constants, dictionaries) is read faster than plain values.
 */
const slowCompressions = 'fsst,dict_fsst,zstd,bitpacking,alp,alprd,rle';

/** Copies the rows of a frame into a database file of its own, as the native table `main.frame`. */
export async function warmFrame(connection: Connection, parts: readonly PartSource[], path: string): Promise<void> {
  await connection.run(`SET disabled_compression_methods = '${slowCompressions}'`);
  try {
    await connection.run(`ATTACH ${sqlString(path)} AS warming`);
    try {
      await connection.run(
        `CREATE TABLE warming.main.frame AS SELECT * FROM ${parquetRelation(parts.map((part) => part.path))}`,
      );
    } finally {
      await connection.run('DETACH warming');
    }
  } catch (error) {
    await rm(path, { force: true });
    await rm(`${path}.wal`, { force: true });
    throw error;
  }
}
