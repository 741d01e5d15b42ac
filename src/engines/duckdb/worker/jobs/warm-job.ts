import { rm } from 'node:fs/promises';
import { sqlString } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import type { WarmCopy } from '../../protocol/protocol.ts';
import { columnsWithEqualValues, hasEqualValues } from '../parquet/equal-values.ts';
import { partsRelation } from '../parquet/part-rows.ts';
import { haveSameValues } from '../parquet/value-digest.ts';

/** Texts take twice the room without these, and queries that look at them are faster by a tenth. */
const slowForTexts = 'fsst,dict_fsst,zstd';
/** Likewise for numbers. Other encodings (constants, dictionaries) are read faster than plain values. */
const slowForNumbers = 'bitpacking,alp,alprd,rle';

/** Copies the rows of a frame into a database file of its own, as the native table `main.frame`. */
export async function warmFrame(
  connection: Connection,
  { parts, columns, path, isPacked }: WarmCopy,
  signal: AbortSignal,
): Promise<void> {
  const left = isPacked ? slowForTexts : `${slowForTexts},${slowForNumbers}`;
  await connection.run(`SET disabled_compression_methods = '${left}'`);
  try {
    await connection.run(`ATTACH ${sqlString(path)} AS warming`);
    try {
      const rows = partsRelation(parts, columns);
      await connection.run(`CREATE TABLE warming.main.frame AS SELECT * FROM ${rows}`);
      await assertSameValues(connection, rows, signal);
    } finally {
      await connection.run('DETACH warming');
    }
  } catch (error) {
    await rm(path, { force: true });
    await rm(`${path}.wal`, { force: true });
    throw error;
  }
}

/** If DuckDB finds all values of a segment equal, it keeps one: for zeros, the sign of the first. */
async function assertSameValues(connection: Connection, rows: string, signal: AbortSignal): Promise<void> {
  if (!(await hasEqualValues(connection, [rows]))) return;
  // Not before are the segments made.
  await connection.run('CHECKPOINT warming');
  const original = await columnsWithEqualValues(connection, rows);
  const copied = await columnsWithEqualValues(connection, 'warming.main.frame');
  if (original === undefined || copied === undefined) return;
  if (!(await haveSameValues(connection, [original, copied], signal)))
    throw new Error('a copy of the frame would have other values');
}
