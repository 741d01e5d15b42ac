import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand, spawnCommand } from '../../support/spawned-command.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { contentOf } from '../harness/doors.ts';
import type { Recording } from '../harness/ledger.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { Writers } from './writers.ts';

const mostAcks = 60;
const longestStartMs = 500;

/** B1: backups beside writers at every door, some of them killed, and the server killed in the middle of the last one. */
export const backupAnytime: Scenario = {
  id: 'B1',
  promise:
    'a backup that has its name holds every frame as it was at one moment since the backup began, whoever was killed',
  rounds: { ci: 1, release: 200 },
  secondsPerRound: 15,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const dataDir = join(directory.path, 'data');
    const destination = join(directory.path, 'backups');
    await mkdir(destination);
    const writers = new Writers(random.fork());
    const argv = ['backup', destination, '--data-dir', dataDir, '--keep', '3'];
    let [checked, killed] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      await using server = await spawnFramehold({ dataDir });
      await writers.checkAll(server);
      const made: { readonly path: string; readonly recording: Recording }[] = [];
      let failure: unknown;

      const backup = async (meanwhile: () => Promise<void> = async () => {}): Promise<void> => {
        const recording = writers.ledger.record();
        const { result } = spawnCommand(argv, { cwd: directory.path });
        await meanwhile();
        const { status, stdout, stderr } = await result;
        promised(status === 0 && stderr === '', 'a backup beside writers is made', { status, stdout, stderr });
        made.push({ path: stdout.split(': ')[0] ?? '', recording });
      };
      const killOne = async (): Promise<void> => {
        const { child, result } = spawnCommand(argv, { cwd: directory.path });
        await delay(random.between(100, longestStartMs));
        child.kill('SIGKILL');
        await result;
        killed++;
      };
      const strike = async (): Promise<void> => {
        await backup();
        await killOne();
        await backup(async () => {
          await delay(random.between(100, longestStartMs));
          server.kill('SIGKILL');
        });
      };
      await writers.writeUntilGone(server, mostAcks, () => {
        strike().catch((error: unknown) => {
          failure = error;
          server.kill('SIGKILL');
        });
      });
      // The last backup may go on after the server is gone.
      while (made.length < 2 && failure === undefined) await delay(20);
      if (failure !== undefined) throw failure;
      for (const { path, recording } of made) {
        recording.end();
        await check(path, join(directory.path, `restored-${round}-${checked++}`), recording);
      }
      const left = await readdir(destination);
      promised(
        left.every((name) => /Z$/.test(name)),
        'nothing is left of backups that were killed',
        left,
      );
      if (round % 20 === 19) progress(`${checked} backups, ${writers.ledger.acknowledged} writes acknowledged`);
    }
    await using server = await spawnFramehold({ dataDir });
    await writers.checkAll(server);
    return { backups: checked, 'killed backups': killed, acks: writers.ledger.acknowledged, lost: 0, torn: 0 };
  },
};

async function check(backup: string, dataDir: string, recording: Recording): Promise<void> {
  const cwd = join(backup, '..');
  const restored = await runCommand(['restore', backup, '--data-dir', dataDir], { cwd });
  promised(restored.status === 0, 'a backup is restored', restored);
  const verified = await runCommand(['verify', '--data-dir', dataDir], { cwd });
  promised(verified.status === 0 && !verified.stdout.includes('outside'), 'a restored backup is sound', verified);
  await using server = await spawnFramehold({ dataDir });
  for (const handle of recording.handles) recording.assertSeen(handle, await contentOf(server, handle));
}
