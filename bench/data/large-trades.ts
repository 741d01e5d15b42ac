import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lab } from '../harness/lab.ts';
import { untilQuiet } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { startFramehold } from '../rivals/framehold.ts';
import { startQuestDbAt, tradesSchema } from '../rivals/questdb.ts';
import { makeTrades } from './large-frame.ts';
import { placeOutside } from './outside-file.ts';

/** The name of the frame and of the table. */
export const largeHandle = 'trades';

/** The same ten million rows in three forms. */
export interface LargeTrades {
  readonly rows: number;
  /** A data directory with the rows as a frame that was put by Flight. */
  readonly put: string;
  /** A data directory with the rows as a file from outside: pyarrow's, zstd, row groups of 1,048,576. */
  readonly outside: string;
  /** QuestDB's root directory; undefined where QuestDB cannot run. */
  readonly questdb: string | undefined;
}

const made = new WeakMap<Lab, Promise<LargeTrades>>();

/** Made once a run. */
export function largeTrades(lab: Lab): Promise<LargeTrades> {
  const trades = made.get(lab) ?? make(lab);
  made.set(lab, trades);
  return trades;
}

async function make(lab: Lab): Promise<LargeTrades> {
  const rows = lab.quick ? 1_000_000 : 10_000_000;
  const folder = join(lab.folder, 'large-trades');
  await makeTrades(folder, largeHandle, rows);
  const source = join(folder, 'cold', `${largeHandle}.parquet`);
  const put = join(folder, 'put');
  const outside = join(folder, 'outside');
  await putFrame(lab, source, put);
  await placeOutside(lab, source, outside, largeHandle);
  return { rows, put, outside, questdb: await importTable(lab, source, join(folder, 'questdb')) };
}

async function putFrame(lab: Lab, source: string, dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await using client = await PythonClient.start('flight_put', lab.folder);
  await using server = await startFramehold({ dataDir, logPath: lab.frameholdLog });
  await client.ask('load', { path: source });
  await client.ask('put', { uri: server.grpcUri, handle: largeHandle });
  // Recompression begins when nothing has been put for a second.
  await untilQuiet(server.pid, { idleMs: 3000, timeoutMs: 900_000 });
}

async function importTable(lab: Lab, source: string, root: string): Promise<string | undefined> {
  await mkdir(root, { recursive: true });
  const questdb = await lab.rival(() => startQuestDbAt(root));
  if (questdb === undefined) return undefined;
  await using server = questdb;
  await using client = await PythonClient.start('csv_import', lab.folder);
  await client.ask('load', { path: source, schema: tradesSchema });
  await client.ask('put', { host: server.host, port: server.port, table: largeHandle });
  return root;
}
