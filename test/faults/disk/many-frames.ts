import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { residentBytesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { becomes } from './private-files.ts';

/** C3: a directory of very many frames, which somebody brought. */
export const manyFrames: Scenario = {
  id: 'C3-frames',
  promise: 'very many frames hold up neither a start nor the reading of one of them, and are listed page by page',
  rounds: { ci: 100, release: 100_000 },
  secondsPerRound: 0.2,
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const cold = join(directory.path, 'cold');
    const handleOf = (n: number): string => `frame_${String(n).padStart(6, '0')}`;
    await bring(cold, rounds, handleOf);
    const firstStart = await timed(() => spawnFramehold({ dataDir: directory.path }));
    {
      await using server = firstStart.result;
      // Asked for before everything is looked at: a frame need not wait for its turn.
      await readsOne(server, handleOf(random.between(0, rounds - 1)));
      const withinMs = 20_000 + rounds * 100;
      await becomes('all are taken in', async () => (await countOf(server)) === rounds, withinMs);
      progress(`${rounds} frames taken in`);
    }
    const start = await timed(() => spawnFramehold({ dataDir: directory.path }));
    await using server = start.result;
    const readMs = (await timed(() => readsOne(server, handleOf(random.between(0, rounds - 1))))).ms;
    promised(
      Math.max(firstStart.ms, start.ms) < (size === 'release' ? 5000 : 30_000),
      'a start does not wait',
      start.ms,
    );
    promised(readMs < (size === 'release' ? 2000 : 30_000), 'nor does a read', readMs);
    const listing = await timed(() => listsAll(server, rounds));
    const sqlMs = (await timed(() => sqlOverOne(server, handleOf(rounds >> 1)))).ms;
    const residentMb = Math.round(residentBytesOf(server.pid) / 1e6);
    promised(residentMb < 300 + rounds / 100, 'a frame that nobody reads costs a few kilobytes', residentMb);
    return {
      frames: rounds,
      'start ms': Math.round(start.ms),
      'first read ms': Math.round(readMs),
      'list all ms': Math.round(listing.ms),
      'SQL over one ms': Math.round(sqlMs),
      'server MB': residentMb,
    };
  },
};

/** Hard links are cheap; file systems allow tens of thousands to one file. */
async function bring(cold: string, frames: number, handleOf: (n: number) => string): Promise<void> {
  const linksAFile = 10_000;
  const bytes = await aParquetFile();
  mkdirSync(cold, { recursive: true });
  for (let n = 0; n < frames; n++) {
    const source = join(cold, `.source_${Math.floor(n / linksAFile)}`);
    if (n % linksAFile === 0) writeFileSync(source, bytes);
    linkSync(source, join(cold, `${handleOf(n)}.parquet`));
  }
}

async function aParquetFile(): Promise<Buffer> {
  await using directory = await temporaryDirectory();
  await using server = await spawnFramehold({ dataDir: directory.path });
  const put = await ask(`${server.url}/imp?name=one`, { method: 'POST', body: 'a,b\n1,x\n2,y\n' });
  promised(put.status === 200, 'a put', put.text);
  return readFileSync(join(directory.path, 'cold', 'one.parquet'));
}

async function readsOne({ url }: SpawnedFramehold, handle: string): Promise<void> {
  await becomes('one of them is read', async () => {
    const answer = await ask(`${url}/exec?handle=${handle}&fmt=json`);
    promised(answer.status === 200 || answer.status === 404, 'a frame of many is read', answer.text);
    return answer.status === 200 && JSON.stringify(answer.json().dataset) === '[[1,"x"],[2,"y"]]';
  });
}

async function countOf(server: SpawnedFramehold): Promise<number> {
  let count = 0;
  for await (const page of pages(server)) count += page.length;
  return count;
}

async function listsAll(server: SpawnedFramehold, expected: number): Promise<void> {
  const seen = new Set<string>();
  for await (const page of pages(server)) for (const handle of page) seen.add(handle);
  promised(seen.size === expected, 'page by page every frame is listed once', seen.size);
}

async function* pages({ url }: SpawnedFramehold): AsyncGenerator<string[]> {
  let after: string | null = '';
  while (after !== null) {
    const answer = await ask(`${url}/handles?limit=1000${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`);
    promised(answer.status === 200, 'frames are listed', answer.text.slice(0, 300));
    const { handles, next } = answer.json() as { handles: { handle: string }[]; next: string | null };
    yield handles.map(({ handle }) => handle);
    after = next;
  }
}

async function sqlOverOne({ url }: SpawnedFramehold, handle: string): Promise<void> {
  const answer = await ask(`${url}/exec?query=select+sum(a)+from+${handle}&engine=local&fmt=json`);
  promised(JSON.stringify(answer.json().dataset) === '[["3"]]' || /\[\[3\]\]/.test(answer.text), 'SQL', answer.text);
}

async function timed<T>(task: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const begun = performance.now();
  const result = await task();
  return { result, ms: performance.now() - begun };
}
