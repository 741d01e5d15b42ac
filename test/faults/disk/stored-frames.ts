import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import type { Address } from '../harness/doors.ts';
import type { Random } from '../harness/random.ts';
import { promised } from '../harness/scenario.ts';
import { allReadings, type Reading, readings } from './frame-answers.ts';

/** A frame that the server wrote, and everything it answered when nothing was wrong with it. */
export interface StoredFrame {
  readonly handle: string;
  /** Relative to the cold directory. */
  readonly files: readonly string[];
  readonly answers: ReadonlyMap<Reading, string>;
  readonly version: string | undefined;
}

/** Files are written at once as they stay: else they are compressed later, into other files. */
export const settledCompression = ['--compression-algorithm', 'uncompressed'];

/** Puts a frame of one file, or of some that were appended, all of it in Parquet, and notes what it answers. */
export async function storeFrame(
  server: Address,
  dataDir: string,
  handle: string,
  random: Random,
): Promise<StoredFrame> {
  const parts = random.pick([1, 1, 1, 2, 3]);
  const remove = await ask(`${server.url}/handles/${handle}`, { method: 'DELETE' });
  promised([200, 404, 410].includes(remove.status), 'a frame can be dropped, damaged or not', remove.text);
  for (let part = 0; part < parts; part++) {
    const rows = Array.from({ length: random.between(100, 400) }, (_, i) => rowOf(part, i, random));
    const put = await ask(`${server.url}/imp?name=${handle}&append=true&format=csv`, {
      method: 'POST',
      body: `id,word,price,at\n${rows.join('\n')}\n`,
    });
    promised(put.status === 200, 'a frame can be put', put.text);
    await flush(server, handle);
  }
  const answers = new Map<Reading, string>();
  let version: string | undefined;
  for (const reading of allReadings) {
    const answer = await readings[reading](server, handle);
    promised('content' in answer, `${handle} is read by ${reading} before anything is done to it`, answer);
    answers.set(reading, answer.content);
    version ??= answer.version;
  }
  return { handle, files: filesOf(dataDir, handle), answers, version };
}

/** Brings the rows of the log into Parquet. */
export async function flush(server: Address, handle: string): Promise<void> {
  const answer = await ask(`${server.url}/handles/${handle}/flush`, { method: 'POST' });
  promised(answer.status === 200, 'a frame can be flushed', answer.text);
}

const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];

function rowOf(part: number, i: number, random: Random): string {
  const at = new Date(1_700_000_000_000 + i * 1000).toISOString();
  return `${part * 1000 + i},${random.pick(words)}${random.between(0, 99)},${random.next()},${at}`;
}

function filesOf(dataDir: string, handle: string): string[] {
  const cold = join(dataDir, 'cold');
  const folder = readdirSync(cold, { withFileTypes: true }).find((entry) => entry.name === handle);
  if (folder?.isDirectory() !== true) return [`${handle}.parquet`];
  return readdirSync(join(cold, handle)).map((name) => `${handle}/${name}`);
}

/**
 * How a file gets other bytes. `silent`: in place, and its time of change is what it was. `fresh`: in place, now.
 * `aged`: in place, with another time long ago. `moved`: another file in its place.
 */
export type Manner = 'silent' | 'fresh' | 'aged' | 'moved';

export function rewrite(path: string, bytes: Buffer, manner: Manner): void {
  const before = statSync(path, { bigint: true });
  if (manner === 'moved') {
    const beside = `${path}.new`;
    writeFileSync(beside, bytes);
    utimesSync(beside, 1_600_000_000, 1_600_000_000);
    renameSync(beside, path);
    return;
  }
  writeFileSync(path, bytes, { flag: 'r+' });
  if (bytes.length < Number(before.size)) execFileSync('truncate', ['-s', String(bytes.length), path]);
  if (manner === 'silent') setTime(path, before.mtimeNs);
  if (manner === 'aged') utimesSync(path, 1_600_000_000, 1_600_000_000);
}

/** To the nanosecond, which Node's own cannot. */
export function setTime(path: string, mtimeNs: bigint): void {
  const seconds = mtimeNs / 1_000_000_000n;
  const rest = String(mtimeNs % 1_000_000_000n).padStart(9, '0');
  execFileSync('touch', ['-m', '-d', `@${seconds}.${rest}`, path]);
}
