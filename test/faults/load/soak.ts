import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { residentBytes } from '../../../bench/harness/process-tree.ts';
import { privateFiles } from '../../support/private-files.ts';
import { childrenOf, openFilesOf } from '../../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf, doorsFor, write } from '../harness/doors.ts';
import { Ledger, type Verb } from '../harness/ledger.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from './connection.ts';
import { endlessSql } from './heavy-sql.ts';

const verbs: readonly Verb[] = ['create', 'overwrite', 'append', 'drop'];
const roundMs = { ci: 6000, release: 60_000 } as const;
/** In shares of what was there after the warm-up, for which CI has no time: there it may grow to what a warm server has. */
const mostGrowth = { ci: 4, release: 0.05 } as const;
const moreFiles = { ci: 40, release: 5 } as const;

interface Facts {
  readonly bytes: number;
  readonly files: number;
  readonly children: number;
  readonly pingMs: number;
}

/** L3: everything at once, for long, with nothing that grows. */
export const soak: Scenario = {
  id: 'L3',
  promise: 'under a mixed load for hours answers stay right, and no memory, file, process or socket is lost',
  rounds: { ci: 0, release: 60 },
  secondsPerRound: 90,
  async run({ rounds, size, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const flags = ['--demo', '--cache-size', '0.05', '--frames-tombstone-ttl', '30s'];
    await using server = await spawnFramehold({ dataDir: directory.path, flags });
    const ledger = new Ledger();
    let [isResting, isOver, busy, answers, number] = [false, false, 0, 0, 0];
    const loop = async (work: (own: Random) => Promise<void>, own = random.fork()): Promise<void> => {
      while (!isOver) {
        if (isResting) {
          await delay(20);
          continue;
        }
        busy++;
        await work(own).finally(() => busy--);
        answers++;
      }
    };
    const writer = (prefix: string) => async (own: Random) => {
      const verb = own.pick(verbs);
      const operation = { handle: `${prefix}${own.between(1, 4)}`, verb, n: ++number };
      ledger.note(operation, await write(server, own.pick(doorsFor(verb)), operation));
      ledger.settle(operation.handle, await contentOf(server, operation.handle));
    };
    const work = Promise.all([loop(writer('v')), loop(writer('w')), loop(reader(server)), loop(passerBy(server))]);
    work.catch(() => {});
    const facts: Facts[] = [];
    for (let round = 0; round < rounds; round++) {
      await Promise.race([work, delay(roundMs[size])]);
      isResting = true;
      await Promise.race([work, quiet(() => busy)]);
      facts.push(await factsOf(server));
      const { bytes, files, children } = facts.at(-1) as Facts;
      progress(
        `${round + 1}: ${answers} answers, ${Math.round(bytes / 1e6)} MB, ${files} files, ${children} processes`,
      );
      isResting = false;
    }
    isOver = true;
    await work;
    // Half of the time, and at least one reading, is to warm up.
    const [first, last] = [facts[Math.max(1, rounds >> 1) - 1] as Facts, facts.at(-1) as Facts];
    const growth = last.bytes / first.bytes - 1;
    promised(growth < mostGrowth[size], `memory grows by less than ${100 * mostGrowth[size]} %`, facts);
    promised(last.files <= first.files + moreFiles[size], 'no file or socket stays open', facts);
    promised(last.children <= 6, 'no process too many', facts);
    await until('no temporary file stays', 60_000, async () => (await temporaryFiles(directory.path)).length === 0);
    return {
      answers,
      acks: ledger.acknowledged,
      'MB warm': Math.round(first.bytes / 1e6),
      'MB at the end': Math.round(last.bytes / 1e6),
      'open files warm': first.files,
      'open files at the end': last.files,
      'ping ms at the end': Math.round(last.pingMs),
    };
  },
};

async function quiet(busy: () => number): Promise<void> {
  while (busy() > 0) await delay(20);
}

function reader(server: SpawnedFramehold): (random: Random) => Promise<void> {
  return async (random) => {
    using client = new Connection(server.url);
    const row = random.between(1, 900_000);
    const targets = [
      [`/exec?handle=trades&fmt=json&limit=${row},${row + 999}`, '"count":1000'],
      [`/exp?handle=trades&fmt=csv&cols=id&limit=${row},${row + 3}`, `id\r\n${row}\r\n`],
      [`/exec?engine=local&fmt=json&query=select+${row}+as+n,count(*)::int+as+m+from+trades`, `[[${row},1000000]]`],
      ['/handles?prefix=trades', '"handle":"trades"'],
    ] as const;
    const [target, expected] = random.pick(targets);
    const { status, text } = await client.ask(target);
    promised(status === 200 && text.includes(expected), 'an answer is right', { target, text: text.slice(0, 300) });
    const name = `short${random.between(1, 20)}`;
    const put = await client.ask(`/imp?name=${name}&overwrite=true&ttl=1s`, { method: 'POST', body: 'a\n1\n' });
    promised(put.status === 200, 'a frame with a time to live can be put', put.text);
  };
}

/** Clients that leave before they are answered. */
function passerBy({ url }: SpawnedFramehold): (random: Random) => Promise<void> {
  return async (random) => {
    const query = new URLSearchParams({ query: endlessSql(random.between(1, 1e9)), engine: 'local', fmt: 'json' });
    const target = random.chance(0.5) ? `/exec?${query}` : '/exec?handle=trades&fmt=json&limit=1,';
    const request = get(url + target, { agent: false });
    request.on('error', () => {});
    await delay(random.between(0, 300));
    request.destroy();
  };
}

/** Recompression, too, has one while it works. */
async function temporaryFiles(dataDir: string): Promise<string[]> {
  return privateFiles(join(dataDir, 'cold'), 'tmp');
}

async function factsOf(server: SpawnedFramehold): Promise<Facts> {
  using client = new Connection(server.url);
  const { ms: pingMs } = await client.ask('/ping');
  const family = childrenOf(server.pid);
  return {
    bytes: residentBytes(server.pid),
    files: openFilesOf(server.pid),
    children: family.length,
    pingMs,
  };
}
