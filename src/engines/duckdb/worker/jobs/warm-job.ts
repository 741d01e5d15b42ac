import { rm } from 'node:fs/promises';
import type { WarmCopy } from '../../protocol/protocol.ts';
import { sqlString } from '../../protocol/sql-text.ts';
import type { Connection } from '../native/session.ts';
import { partsRelation } from '../parquet/part-rows.ts';

/** Texts take twice the room without these, and queries that look at them are faster by a tenth. */
const slowForTexts = 'fsst,dict_fsst,zstd';
/** Numbers likewise. What is left (constants, dictionaries) is read faster than plain values. */
const slowForNumbers = 'bitpacking,alp,alprd,rle';

/** Copies the rows of a frame into a database file of its own, as the native table `main.frame`. */
export async function warmFrame(connection: Connection, { parts, columns, path, isPacked }: WarmCopy): Promise<void> {
  const left = isPacked ? slowForTexts : `${slowForTexts},${slowForNumbers}`;
  await connection.run(`SET disabled_compression_methods = '${left}'`);
  try {
    await connection.run(`ATTACH ${sqlString(path)} AS warming`);
    try {
      await connection.run(`CREATE TABLE warming.main.frame AS SELECT * FROM ${partsRelation(parts, columns)}`);
    } finally {
      await connection.run('DETACH warming');
    }
  } catch (error) {
    await rm(path, { force: true });
    await rm(`${path}.wal`, { force: true });
    throw error;
  }
}
