import { FlightSqlClient } from '../../support/flight-sql-client.ts';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { allReadings, readings } from './frame-answers.ts';
import { endingOf, largeWriteDoors, largeWrites, readOnlyStatuses } from './large-writes.ts';
import { isRight } from './mutated-files.ts';
import { smallDisk } from './small-disk.ts';
import { type StoredFrame, settledCompression, storeFrame } from './stored-frames.ts';

/** D5: nothing can be written, from the start on or all at once. */
export const readOnlyDirectory: Scenario = {
  id: 'D5',
  promise: 'a directory that cannot be written is served, and writes are refused as such until it can be written again',
  rounds: { ci: 1, release: 10 },
  secondsPerRound: 60,
  needs: ['mount'],
  async run({ rounds, random }: Trial) {
    let [refused, read] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      await using disk = await smallDisk({ bytes: 64 * 2 ** 20 });
      const cache = random.pick(['0', '1']);
      const flags = [...settledCompression, '--cache-size', cache];
      const frames: StoredFrame[] = [];
      {
        await using server = await spawnFramehold({ dataDir: disk.path, flags });
        for (const handle of ['a', 'b', 'c']) frames.push(await storeFrame(server, disk.path, handle, random));
        disk.remount('ro');
        refused += await refusesEveryWrite(server, `while it serves, cache ${cache}`);
        read += await servesAll(server, frames);
        disk.remount('rw');
        promised((await putSmall(server, 'again')) === 200, 'writable again, the next write works without a restart');
      }
      disk.remount('ro');
      await using server = await spawnFramehold({ dataDir: disk.path, flags });
      promised(server.stderr().includes('cannot be written'), 'the log warns of it at the start');
      read += await servesAll(server, frames);
      refused += await refusesEveryWrite(server, 'from the start on');
      read += await servesAll(server, frames);
      disk.remount('rw');
      promised((await putSmall(server, 'after')) === 200, 'writable after a read-only start, the next write works');
    }
    return { rounds, 'writes refused': refused, 'answers read': read };
  },
};

async function servesAll(server: SpawnedFramehold, frames: readonly StoredFrame[]): Promise<number> {
  for (const frame of frames) {
    for (const reading of allReadings) {
      // A frame of several parts would be written anew as one file, for which there is no room to write.
      if (reading === 'parquet' && frame.files.length > 1) continue;
      const answer = await readings[reading](server, frame.handle);
      promised(isRight(frame, reading, answer), `${reading} of ${frame.handle} goes on`, answer);
    }
  }
  return frames.length * allReadings.length;
}

async function refusesEveryWrite(server: SpawnedFramehold, when: string): Promise<number> {
  const rows = Array.from({ length: 1000 }, (_, i) => `row ${i}`);
  for (const door of largeWriteDoors) {
    const ending = await largeWrites[door](server, { handle: 'new', rows });
    const isSaid = ending !== 'kept' && ending.code === 'storage_read_only';
    promised(
      isSaid && readOnlyStatuses.includes(ending.status),
      `${door} says that nothing can be written ${when}`,
      ending,
    );
  }
  for (const query of ['name=a&overwrite=true', 'name=a&append=true']) {
    const ending = endingOf(await ask(`${server.url}/imp?${query}`, { method: 'POST', body: 'id\n1\n' }));
    promised(ending !== 'kept' && ending.status === 503, `/imp?${query} is refused ${when}`, ending);
  }
  for (const [method, path] of [
    ['DELETE', 'a'],
    ['POST', 'a/renew?ttl=1h'],
  ] as const) {
    const ending = endingOf(await ask(`${server.url}/handles/${path}`, { method }));
    promised(ending !== 'kept' && ending.status === 503, `${method} ${path} is refused ${when}`, ending);
  }
  using client = new FlightSqlClient(server.grpcPort);
  const drop = await client.flight.action('framehold.drop', 'a');
  promised(drop.code === 'storage_read_only', `the action drop is refused ${when}`, drop.status.details);
  return largeWriteDoors.length + 5;
}

async function putSmall({ url }: SpawnedFramehold, handle: string): Promise<number> {
  return (await ask(`${url}/imp?name=${handle}`, { method: 'POST', body: 'a\n1\n' })).status;
}
