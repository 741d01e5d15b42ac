import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { systemCallsIn } from '../harness/system-calls.ts';
import { assertOnDisk } from './assert-on-disk.ts';
import { diskCalls, diskEventsIn } from './disk-events.ts';
import { everyAct } from './every-act.ts';
import { repliesIn, socketCalls } from './replies.ts';

const traced = [...new Set([...diskCalls, ...socketCalls])].join(',');

/** D2a: what the server asks of the disk, and in which order, before the first byte of each reply. */
export const orderOfSystemCalls: Scenario = {
  id: 'D2a',
  promise: 'before a write is acknowledged its file, its folders and its record are on the disk, in this order',
  rounds: { ci: 1, release: 10 },
  secondsPerRound: 60,
  needs: ['strace'],
  async run({ rounds, progress }: Trial) {
    let acks = 0;
    let fsyncs = 0;
    for (let round = 0; round < rounds; round++) {
      await using directory = await temporaryDirectory();
      const dataDir = join(directory.path, 'new', 'data');
      const coldDirectory = join(dataDir, 'cold');
      const trace = join(directory.path, 'trace');
      const under = ['strace', '-f', '-y', '-qq', '-x', '-s', '4096', '--seccomp-bpf', '-o', trace, '-e', traced];
      const acts = everyAct(coldDirectory);
      await using server = await spawnFramehold({ dataDir, under });
      for (const act of acts) promised((await act.run(server)) === 'acknowledged', `${act.name} is acknowledged`);
      server.kill('SIGKILL');
      await server.exited;

      const calls = systemCallsIn(await readFile(trace, 'utf8'));
      const events = diskEventsIn(calls, directory.path);
      const replies = repliesIn(calls);
      promised(replies.length === acts.length, 'there is one connection for each write', replies.length);
      for (const [index, act] of acts.entries()) {
        const { acceptedAt, repliedAt } = replies[index] ?? { acceptedAt: 0, repliedAt: undefined };
        promised(repliedAt !== undefined, `the reply to "${act.name}" is in the trace`);
        const before = events.filter(({ endedAt }) => endedAt < repliedAt);
        assertOnDisk(act, coldDirectory, acceptedAt, before);
      }
      acks += acts.length;
      fsyncs += events.filter(({ kind }) => kind === 'sync').length;
      progress(`${acks} replies`);
    }
    return { 'replies looked at': acks, fsyncs, 'sent too early': 0 };
  },
};
