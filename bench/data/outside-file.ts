import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lab } from '../harness/lab.ts';
import { PythonClient } from '../harness/python-client.ts';

/**
 * The rows of a Parquet file as another program writes them (pyarrow: zstd, row groups of 1,048,576), moved into the cold directory of
 * a data directory that no server uses.
 */
export async function placeOutside(lab: Lab, source: string, dataDir: string, handle: string): Promise<void> {
  const cold = join(dataDir, 'cold');
  await mkdir(cold, { recursive: true });
  await using client = await PythonClient.start('flight_get', lab.folder);
  const copy = join(dataDir, `${handle}.parquet`);
  await client.ask('copy_outside', { path: source, copy });
  await rename(copy, join(cold, `${handle}.parquet`));
}
