import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cached } from '../../test/support/cached.ts';
import { pythonPrograms } from '../harness/python.ts';

const run = promisify(execFile);

export const tpchTables = [
  'customer',
  'lineitem',
  'nation',
  'orders',
  'part',
  'partsupp',
  'region',
  'supplier',
] as const;

export type TpchTable = (typeof tpchTables)[number];

/** A folder with a Parquet file of each table of TPC-H, made once on this machine. */
export async function tpchFolder(scale: number): Promise<string> {
  const programs = await pythonPrograms();
  // Another generator, other files: its version is part of the environment's name.
  const generator = createHash('sha256').update(programs).digest('hex').slice(0, 8);
  return cached(`tpch-sf${scale}-${generator}`, async (folder) => {
    await run(join(programs, 'tpchgen-cli'), ['parquet', '-q', '-s', String(scale), '-o', folder]);
  });
}

/** Makes frames of tables, as an operator would: the files move into the cold directory of a data directory. */
export async function placeTables(source: string, tables: readonly TpchTable[], dataDir: string): Promise<void> {
  const cold = join(dataDir, 'cold');
  await mkdir(cold, { recursive: true });
  for (const table of tables) await copyFile(join(source, `${table}.parquet`), join(cold, `${table}.parquet`));
}
