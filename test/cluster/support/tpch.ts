import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { cached } from '../../support/cached.ts';
import { clusterVenv } from './cluster-venv.ts';

const queryFolder = new URL('../../../bench/clients/tpch/', import.meta.url);

/** A folder with a Parquet file of each table of TPC-H, made once on this machine. Throws Missing. */
export async function tpchFolder(scale: number): Promise<string> {
  const { tpchgen } = await clusterVenv();
  // Another generator, other files: its version is part of the environment's name.
  const generator = createHash('sha256').update(tpchgen).digest('hex').slice(0, 8);
  return cached(`tpch-sf${scale}-${generator}`, async (folder) => {
    await promisify(execFile)(tpchgen, ['parquet', '-q', '-s', String(scale), '-o', folder]);
  });
}

export interface TpchQuery {
  /** `q01` … `q22` */
  readonly name: string;
  /** The same text for every engine. */
  readonly sql: string;
}

export function tpchQueries(): readonly TpchQuery[] {
  return readdirSync(queryFolder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({ name: file.replace('.sql', ''), sql: readFileSync(new URL(file, queryFolder), 'utf8') }));
}
