import { copyFile, link, open } from 'node:fs/promises';
import { sqlString } from '@framehold/columns';
import { type Connection, DuckDbError } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { FileReport } from '../../../../core/rows/frame-engine.ts';
import { refuseImpossible } from '../parquet/impossible-footer.ts';
import { refuseDeepLists } from '../parquet/list-depth.ts';
import { parquetRelation, queryReadable } from '../parquet/parquet-relation.ts';
import { resourceError } from '../resource-error.ts';

const magic = 'PAR1';
const encryptedMagic = 'PARE';
/** Magic, the shortest footer, its length, magic. */
const leastBytes = 12;

/** Takes a Parquet file over unchanged, without copying its bytes if the file system allows it. */
export async function keepParquet(connection: Connection, source: string, target: string): Promise<FileReport> {
  await refuseUnreadable(source);
  await refuseImpossible(source);
  await refuseUnreadableFooter(connection, source);
  await refuseEndless(connection, source);
  await refuseDamaged(connection, source);
  try {
    await link(source, target);
  } catch {
    await copyFile(source, target);
  }
  return { rejectedRows: 0, rejections: [] };
}

async function refuseUnreadable(path: string): Promise<void> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  if (size === 0) throw invalid('it is empty');
  const ends = Buffer.alloc(8);
  await file.read(ends, 0, 4, 0);
  await file.read(ends, 4, 4, Math.max(0, size - 4));
  const [first, last] = [ends.toString('latin1', 0, 4), ends.toString('latin1', 4, 8)];
  if (first === encryptedMagic || last === encryptedMagic)
    throw invalid('it is encrypted', 'send it without encryption');
  if (first !== magic) throw invalid('it does not begin as one', 'name the format that the file has');
  if (last !== magic || size < leastBytes) throw invalid('its end is missing', 'send the whole file');
}

async function refuseUnreadableFooter(connection: Connection, path: string): Promise<void> {
  await readOrRefuse(
    connection,
    `FROM parquet_schema(${sqlString(path)})`,
    'what it says of its own contents is damaged',
  );
}

/** Checked before rows are read. Readers report all other faults of the file. */
async function refuseEndless(connection: Connection, path: string): Promise<void> {
  try {
    await using result = await queryReadable(connection, `${parquetRelation([{ path }])} LIMIT 0`);
    refuseDeepLists(result.columns);
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.fatal) throw error;
  }
}

/** A footer may list rows that are lost, and a frame once acknowledged must be readable. */
async function refuseDamaged(connection: Connection, path: string): Promise<void> {
  await readOrRefuse(
    connection,
    `SELECT bit_xor(hash(COLUMNS(*))) FROM ${parquetRelation([{ path }])}`,
    'it is damaged',
  );
}

async function readOrRefuse(connection: Connection, sql: string, why: string): Promise<void> {
  try {
    await connection.run(sql);
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.interrupted || error.fatal) throw error;
    const hasNoColumns = error.message.includes('non-root column');
    throw resourceError(error) ?? invalid(hasNoColumns ? 'it has no columns' : why, undefined, error);
  }
}

function invalid(why: string, hint?: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `the file cannot be read as Parquet: ${why}`, {
    hint,
    cause,
  });
}
