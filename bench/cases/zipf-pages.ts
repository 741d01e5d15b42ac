import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFrames } from '../data/large-frame.ts';
import { randomPages } from '../data/random-pages.ts';
import { zipfRanks } from '../data/zipf.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { loadContender } from '../harness/contenders.ts';
import { emptyDiskCache } from '../harness/disk-cache.ts';
import { exchangeable } from '../harness/exchangeable.ts';
import { assertSameRows, getExecTable } from '../harness/exec-table.ts';
import { httpGetBody, urlOf } from '../harness/http-get.ts';
import type { Lab } from '../harness/lab.ts';
import { untilQuiet } from '../harness/process-tree.ts';
import type { HttpServer } from '../harness/server-process.ts';
import { handlePath, startFramehold, untilReadable } from '../rivals/framehold.ts';
import { pagePath, queryPath, startQuestDb } from '../rivals/questdb.ts';

const connections = 32;
const pageRows = 1000;
const cacheGb = 0.5;
/** Less would keep no chunk. */
const quickCacheGb = 0.02;
const pagesCompared = 20;

/** A store that is ten times as large as its cache. Both servers have just been started when the load begins. */
export const zipfPages: BenchCase = {
  name: 'zipf-pages',
  title:
    'p99 of 1,000 rows at random of one of 200 frames of a million rows, the frame by a Zipf law, cache 0.5 GB, five minutes, 32 connections',
  unit: 'ms',
  better: 'lower',
  // One long one: every second of it is in the JSON file.
  rounds: 1,
  bars: [{ kind: 'ratio', against: 'questdb', atLeast: 1 / 3 }],

  async prepare(lab, cleanup) {
    const size = sizeOf(lab);
    const dataDir = await makeStore(lab, size);
    const ours = exchangeable(async () => {
      await emptyDiskCache(dataDir);
      return startStore(lab, dataDir, size);
    }, cleanup);
    await ours.renew();
    const questdb = await lab.rival(() => startQuestDb(lab.folder));
    if (questdb !== undefined) await makeTables(cleanup.use(questdb), size);

    const contender = (name: string, server: () => HttpServer, path: PagePath, begin: () => Promise<void>): Contender =>
      loadContender({
        name,
        server,
        connections,
        paths: () => asked(size).map(path),
        until: { ms: size.seconds * 1000 },
        value: ({ p99Ms }) => p99Ms,
        beforeRound: begin,
      });
    return {
      contenders: [
        contender('framehold', ours.current, ourPath, ours.renew),
        ...(questdb === undefined
          ? []
          : [
              contender(
                'questdb',
                () => questdb,
                questdbPath,
                () => untilQuiet(questdb.pid),
              ),
            ]),
      ],
      async verify() {
        const some = asked(size).slice(0, pagesCompared);
        for (const page of some) {
          const table = await getExecTable(urlOf(ours.current(), ourPath(page)));
          if (table.dataset.length !== pageRows) throw new Error(`framehold answered ${table.dataset.length} rows`);
          if (questdb === undefined) continue;
          assertSameRows(table, await getExecTable(urlOf(questdb, questdbPath(page))), 'questdb');
        }
        return `${some.length} pages of ${new Set(some.map(({ frame }) => frame)).size} frames`;
      },
    };
  },
};

interface StoreSize {
  readonly frames: number;
  readonly rows: number;
  readonly seconds: number;
  readonly pagesAsked: number;
}

function sizeOf({ quick }: Lab): StoreSize {
  return quick
    ? { frames: 20, rows: 100_000, seconds: 20, pagesAsked: 20_000 }
    : { frames: 200, rows: 1_000_000, seconds: 300, pagesAsked: 500_000 };
}

interface AskedPage {
  readonly frame: number;
  readonly page: string;
}

type PagePath = (asked: AskedPage) => string;

const ourPath: PagePath = ({ frame, page }) => handlePath(nameOf(frame), page);
const questdbPath: PagePath = ({ frame, page }) => pagePath(nameOf(frame), page);

function asked({ frames, rows, pagesAsked }: StoreSize): AskedPage[] {
  const pages = randomPages(1, pagesAsked, rows, pageRows);
  return zipfRanks(2, pagesAsked, frames).map((frame, at) => ({ frame, page: pages[at] ?? '' }));
}

function nameOf(frame: number): string {
  return `frame_${String(frame).padStart(3, '0')}`;
}

/** The ids of a frame are those of no other. */
async function makeStore({ folder }: Lab, { frames, rows }: StoreSize): Promise<string> {
  const dataDir = await mkdtemp(join(folder, 'zipf-'));
  const sqlOf = (frame: number): string =>
    `SELECT range + ${frame * rows} AS id, (range % 1000) * 0.25::DOUBLE AS price, (range % 97)::INTEGER AS size FROM range(${rows})`;
  const made = Array.from({ length: frames }, (_, frame) => ({ handle: nameOf(frame), sql: sqlOf(frame) }));
  await makeFrames(dataDir, made);
  return dataDir;
}

async function makeTables(server: HttpServer, { frames, rows }: StoreSize): Promise<void> {
  for (let frame = 0; frame < frames; frame++) {
    const columns = `x - 1 + ${frame * rows} id, ((x - 1) % 1000) * 0.25 price, cast((x - 1) % 97 as int) size`;
    const sql = `create table ${nameOf(frame)} as (select ${columns} from long_sequence(${rows}))`;
    await httpGetBody(urlOf(server, queryPath(sql)));
  }
}

async function startStore(lab: Lab, dataDir: string, { frames }: StoreSize): Promise<HttpServer> {
  const settings = { CACHE_SIZE: String(lab.quick ? quickCacheGb : cacheGb) };
  const server = await startFramehold({ dataDir, logPath: lab.frameholdLog, settings });
  try {
    for (let frame = 0; frame < frames; frame++) await untilReadable(server, nameOf(frame));
    await untilQuiet(server.pid);
    return server;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
