import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { contentOf, write } from '../harness/doors.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { wasFull } from './full-disk.ts';
import { endingOf } from './large-writes.ts';
import { becomes, leavesNothing } from './private-files.ts';
import { type SmallDisk, smallDisk } from './small-disk.ts';

/** Without the cache on disk: it would make the room that is to be missing. */
const flags = ['--sql-memory', '0.1', '--disk-cache-size', '0'];

/** D3: what the server does by itself on a disk without room: start, recompress, spill, expire. */
export const fullDiskWork: Scenario = {
  id: 'D3-work',
  promise: 'a full disk stops neither a start nor reading, and work that finds no room leaves the frames as they are',
  rounds: { ci: 1, release: 10 },
  secondsPerRound: 60,
  needs: ['mount'],
  async run({ rounds, random }: Trial) {
    for (let round = 0; round < rounds; round++) {
      await using disk = await smallDisk({ bytes: 32 * 2 ** 20 });
      const freeAtStart = random.pick([0, 0, 4096, 8192]);
      await startsOnNothing(disk, freeAtStart);
      await using server = await spawnFramehold({ dataDir: disk.path, flags });
      promised((await write(server, 'impCsv', { handle: 'kept', verb: 'create', n: 17 })) === 'acknowledged', 'a put');
      const putExpiring = await ask(`${server.url}/imp?name=short&ttl=1s`, { method: 'POST', body: 'a\n1\n' });
      promised(putExpiring.status === 200, 'a put with a time to live', putExpiring.text);
      await disk.leave(random.pick([0, 0, 4096]));
      await expires(server);
      await keepsFirstCompression(server, disk);
      await spillsNothing(server, disk);
      await restartsFull(server, disk);
    }
    return { starts: 3 * rounds, recompressions: rounds, spills: rounds, expiries: rounds };
  },
};

/** The very first start, where even the folders are not there. */
async function startsOnNothing(disk: SmallDisk, freeBytes: number): Promise<void> {
  await disk.leave(freeBytes);
  {
    await using server = await spawnFramehold({ dataDir: disk.path });
    const full = endingOf(await ask(`${server.url}/imp?name=first`, { method: 'POST', body: csv(2000) }));
    promised(wasFull(full), 'a full disk is called so from the first put on', full);
    promised((await ask(`${server.url}/handles`)).status === 200, 'and frames are listed');
    disk.makeRoom();
    const kept = await ask(`${server.url}/imp?name=first`, { method: 'POST', body: csv(2000) });
    promised(kept.status === 200, 'with room the next put works', kept.text);
    promised((await ask(`${server.url}/handles/first`, { method: 'DELETE' })).status === 200, 'a drop');
  }
}

async function expires(server: SpawnedFramehold): Promise<void> {
  const status = async () => (await ask(`${server.url}/handles/short`)).status;
  await becomes('a frame expires on a full disk', async () => (await status()) === 410);
}

async function keepsFirstCompression(server: SpawnedFramehold, disk: SmallDisk): Promise<void> {
  disk.makeRoom();
  const put = await ask(`${server.url}/imp?name=large`, { method: 'POST', body: csv(40_000) });
  promised(put.status === 200, 'a put', put.text);
  const before = (await ask(`${server.url}/exp?handle=large`)).text;
  await disk.leave(0);
  const isGivenUp = () => server.stderr().includes('parts of a frame could not be rewritten');
  await becomes('a frame that cannot be recompressed keeps its first compression', isGivenUp);
  const after = await ask(`${server.url}/exp?handle=large`);
  promised(after.status === 200 && after.text === before, 'and stays what it was');
  await leavesNothing(disk.path);
}

async function spillsNothing(server: SpawnedFramehold, disk: SmallDisk): Promise<void> {
  const sql = 'select md5(range::varchar) as text from range(4000000) order by text';
  const ending = endingOf(await ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify({ sql }) }));
  promised(wasFull(ending), 'a statement that finds no room to spill says so', ending);
  const next = await ask(`${server.url}/exec?query=select+count(*)+from+large&engine=local&fmt=json`);
  promised(JSON.stringify(next.json().dataset) === '[[40000]]', 'and the next statement runs', next.text);
  disk.makeRoom();
}

/** Full to the last byte, with frames: they are read, and dropping one makes room for another. */
async function restartsFull(running: SpawnedFramehold, disk: SmallDisk): Promise<void> {
  await running[Symbol.asyncDispose]();
  await disk.leave(0);
  await using server = await spawnFramehold({ dataDir: disk.path });
  promised((await contentOf(server, 'kept'))?.join() === '17', 'frames are read after a start on a full disk');
  const expired = await ask(`${server.url}/exec?handle=short&fmt=json`);
  promised(expired.status === 410, 'what has expired stays gone', expired.text);
  promised((await ask(`${server.url}/handles/large`, { method: 'DELETE' })).status === 200, 'a drop makes room');
  // The room is there when the last who read the file has closed it.
  const put = async () => (await ask(`${server.url}/imp?name=second`, { method: 'POST', body: csv(2000) })).status;
  await becomes('into it the next put goes', async () => (await put()) === 200);
  promised((await ask(`${server.url}/exec?handle=large&fmt=json`)).status === 410, 'what was dropped is gone');
  disk.makeRoom();
}

function csv(rows: number): string {
  return `n,text\n${Array.from({ length: rows }, (_, i) => `${i},${Math.imul(i + 1, 2654435761) >>> 0}-${i * 7919}`).join('\n')}\n`;
}
