import { copyFileSync, existsSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { allReadings, readings } from './frame-answers.ts';
import { becomes, leavesNothing } from './private-files.ts';
import { smallDisk } from './small-disk.ts';
import { flush } from './stored-frames.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'append', 'drop'];

/** C2: directories and files that are links, and data on other file systems. */
export const links: Scenario = {
  id: 'C2',
  promise:
    'links among the directories change nothing, and links among the files show Parquet alone, never other files',
  rounds: { ci: 1, release: 20 },
  secondsPerRound: 60,
  needs: ['mount'],
  async run({ rounds, random }: Trial) {
    let writes = 0;
    for (let round = 0; round < rounds; round++) {
      await using real = await temporaryDirectory();
      await using disk = await smallDisk({ bytes: 64 * 2 ** 20 });
      // The data directory is a link, the frames lie on another file system behind another link.
      mkdirSync(join(real.path, 'data'));
      mkdirSync(join(disk.path, 'frames'));
      symlinkSync(join(real.path, 'data'), join(real.path, 'link'));
      symlinkSync(join(disk.path, 'frames'), join(real.path, 'data', 'cold'));
      const options = { dataDir: join(real.path, 'link'), flags: ['--sql-memory', '0.2'] };
      const ledger = new Ledger();
      {
        await using server = await spawnFramehold(options);
        for (let n = 1; n <= 25; n++) {
          const verb = random.pick(verbs);
          const operation = { handle: random.pick(['a', 'b', 'c']), verb, n };
          const outcome = await write(server, random.pick(doorsFor(verb)), operation);
          promised(outcome !== 'unknown', 'every write has an answer', operation);
          ledger.note(operation, outcome);
          writes++;
        }
        await checkAll(server, ledger);
        await leavesNothing(options.dataDir);
        await spillsElsewhere(server);
        await linkedFiles(server, join(disk.path, 'frames'), real.path);
      }
      await using again = await spawnFramehold(options);
      await checkAll(again, ledger);
      promised((await contentOf(again, 'elsewhere'))?.join() === '17', 'a linked frame is there after a start');
    }
    return { writes, links: 7 * rounds };
  },
};

async function spillsElsewhere({ url }: SpawnedFramehold): Promise<void> {
  // What is sorted has no room on the frames' file system, what is kept of it has.
  const sql = 'select md5(range::varchar)[:8] as text from range(3000000) order by md5(range::varchar)';
  const body = JSON.stringify({ sql, keep: { handle: 'sorted' } });
  const kept = await ask(`${url}/sql`, { method: 'POST', body });
  promised(kept.status === 200, 'what was spilled to one file system is kept on the other', kept.text);
  await ask(`${url}/handles/sorted`, { method: 'DELETE' });
}

async function linkedFiles(server: SpawnedFramehold, cold: string, outside: string): Promise<void> {
  promised((await write(server, 'impCsv', { handle: 'source', verb: 'create', n: 17 })) === 'acknowledged', 'a put');
  const moved = join(outside, 'elsewhere.parquet');
  copyFileSync(join(cold, 'source.parquet'), moved);
  writeFileSync(join(outside, 'secret'), 'PAR1 secret words that nobody may read PAR1');
  symlinkSync(moved, join(cold, 'elsewhere.parquet'));
  symlinkSync('/etc/passwd', join(cold, 'passwd.parquet'));
  symlinkSync(join(outside, 'secret'), join(cold, 'secret.parquet'));
  symlinkSync(join(cold, 'loop.parquet'), join(cold, 'loop.parquet'));
  symlinkSync(join(outside, 'nowhere'), join(cold, 'dangling.parquet'));
  symlinkSync(cold, join(cold, 'self'));
  symlinkSync('/dev/zero', join(cold, 'device.parquet'));
  await becomes(
    'a link to a Parquet file is a frame',
    async () => (await contentOf(server, 'elsewhere'))?.join() === '17',
  );
  for (const handle of ['passwd', 'secret', 'loop', 'dangling', 'self', 'device']) {
    for (const reading of allReadings) {
      const answer = await readings[reading](server, handle);
      const shown = JSON.stringify(answer);
      promised('error' in answer && !/root:|secret words/.test(shown), `${reading} of ${handle} shows nothing`, answer);
      promised(answer.error !== 'internal', `${reading} of ${handle} says what it is`, answer);
    }
  }
  await writesThroughLinks(server, cold, moved);
}

/** The server's files take the place of links; what these point to is not ours to change. */
async function writesThroughLinks(server: SpawnedFramehold, cold: string, target: string): Promise<void> {
  const overwritten = { handle: 'linked', verb: 'overwrite', n: 34 } as const;
  const beside = `${target}.beside`;
  linkSync(target, beside);
  symlinkSync(beside, join(cold, 'linked.parquet'));
  await becomes('a second link is a frame', async () => (await contentOf(server, 'linked'))?.join() === '17');
  promised((await write(server, 'impCsv', overwritten)) === 'acknowledged', 'a linked frame can be overwritten');
  promised((await contentOf(server, 'linked'))?.join() === '34', 'and shows what was written');
  copyFileSync(beside, join(cold, 'still.parquet'));
  await becomes(
    'the file behind the link is what it was',
    async () => (await contentOf(server, 'still'))?.join() === '17',
  );
  const [appended, dropped] = [{ verb: 'append', n: 51 } as const, { verb: 'drop', n: 0 } as const];
  const outcome = await write(server, 'doPut', { handle: 'still', ...appended });
  promised(outcome === 'acknowledged', 'a frame from outside can be appended to');
  await flush(server, 'still');
  symlinkSync(beside, join(cold, 'third.parquet'));
  await becomes('a third link is a frame', async () => (await contentOf(server, 'third'))?.join() === '17');
  promised((await write(server, 'doPut', { handle: 'third', ...appended })) === 'acknowledged', 'so can a linked one');
  await flush(server, 'third');
  promised((await contentOf(server, 'third'))?.join() === '17,51', 'which then shows both');
  promised((await write(server, 'delete', { handle: 'third', ...dropped })) === 'acknowledged', 'and can be dropped');
  promised(existsSync(beside), 'without its target');
  rmSync(join(cold, 'still'), { recursive: true });
}

async function checkAll(server: SpawnedFramehold, ledger: Ledger): Promise<void> {
  for (const handle of ledger.handles) ledger.settle(handle, await contentOf(server, handle));
}
