import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../support/http-client.ts';
import { privateFiles } from '../../support/private-files.ts';
import { childrenOf, familyOf, openFilesOf, residentBytesOf } from '../../support/process-facts.ts';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import { promised } from '../harness/scenario.ts';

/** What a server holds for the sake of its clients. */
export interface HeldResources {
  /** Of the server itself, sockets among them. */
  readonly openFiles: number;
  readonly workers: number;
  readonly temporaryFiles: number;
}

export function heldBy({ pid }: Pick<SpawnedFramehold, 'pid'>, dataDir: string): HeldResources {
  return {
    openFiles: openFilesOf(pid),
    workers: childrenOf(pid).length,
    temporaryFiles: temporaryFiles(dataDir).length,
  };
}

export function temporaryFiles(dataDir: string): string[] {
  const cold = join(dataDir, 'cold');
  return ['tmp', 'pins'].flatMap((folder) =>
    privateFiles(cold, folder).map((name) => join(cold, '.framehold', folder, name)),
  );
}

/** On the disk, for what is not a frame yet. */
export function temporaryBytes(dataDir: string): number {
  return temporaryFiles(dataDir)
    .map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** How much more memory the processes of a server take than they did, at the most, until it is disposed of. */
export class GrowthWatch implements Disposable {
  mostBytes = 0;
  readonly #timer: NodeJS.Timeout;

  constructor({ pid }: Pick<SpawnedFramehold, 'pid'>) {
    const family = familyOf(pid);
    const residentBytes = (): number => family.map(residentBytesOf).reduce((sum, bytes) => sum + bytes, 0);
    const before = residentBytes();
    this.#timer = setInterval(() => {
      this.mostBytes = Math.max(this.mostBytes, residentBytes() - before);
    }, 10);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Lets the server start all the processes that it starts only when they are needed. */
export async function warmUp({ url }: Pick<SpawnedFramehold, 'url'>): Promise<void> {
  const body = JSON.stringify({ sql: 'select count(*) from range(20_000_000)' });
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(`${url}/sql`, { method: 'POST', body })));
  const bad = answers.find(({ status }) => status !== 200);
  promised(bad === undefined, 'statements run', bad?.text);
}

/** Pipes to a worker process. */
const filesPerWorker = 4;
/** Two processes for work in the background start when there is some, and stay. */
const backgroundWorkers = 2;

/** Waits until the server holds no more than before. */
export async function givesBack(
  server: Pick<SpawnedFramehold, 'pid'>,
  dataDir: string,
  before: HeldResources,
  withinMs: number,
): Promise<void> {
  const withoutPipes = ({ openFiles, workers }: HeldResources): number => openFiles - workers * filesPerWorker;
  const deadline = performance.now() + withinMs;
  for (;;) {
    const now = heldBy(server, dataDir);
    const isBack =
      withoutPipes(now) <= withoutPipes(before) &&
      now.workers <= before.workers + backgroundWorkers &&
      now.temporaryFiles <= before.temporaryFiles;
    if (isBack) return;
    promised(performance.now() < deadline, 'sockets, temporary files and workers go back to what they were', {
      before,
      now,
    });
    await delay(50);
  }
}

/** What the log says of worker processes that ended by themselves. One that does not stop when told to is killed, rightly. */
export function crashesIn(log: string): string[] {
  return log.split('\n').filter((line) => {
    if (line.includes('died under a read') || line.includes('did not start')) return true;
    return line.includes('"worker ended"') && !line.includes('"signal":"SIGKILL"');
  });
}
