import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { putCanary } from './canary.ts';
import { attacks } from './http2-attacks.ts';
import { putLarge } from './large-frame.ts';
import { OrdinaryClient } from './ordinary-client.ts';
import { filesReturnTo, MemoryWatch, megabytes, openFiles } from './process-family.ts';

const attackersAtOnce = 3;
/** Of the whole family, over what it had when idle: uploads may hold a gigabyte, which an attack of the size of CI does not reach. */
const maxGrowthBytes = { ci: 900e6, release: 2e9 } as const;
/** An attack may slow others down, not shut them out. It costs the server up to a second of one core, which takes long on a busy machine. */
const slowestMs = { ci: 30_000, release: 3000 } as const;

/** I2 at the level of HTTP/2: everything that has made servers fall, and an ordinary client beside it. */
export const http2Abuse: Scenario = {
  id: 'I2-HTTP2',
  promise: 'a connection that abuses HTTP/2 takes bounded memory and does not shut others out',
  rounds: { ci: 0, release: 20 },
  secondsPerRound: 150,
  async run({ rounds, random, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    const canary = await putCanary(server);
    await putLarge(server, 30e6);
    const attackMs = size === 'ci' ? 250 : 5000;
    const before = openFiles(server.pid);
    const idle = await OrdinaryClient.during(server.grpcPort, async (client) => client.calls(50));
    using memory = new MemoryWatch(server.pid);
    let worst = { name: '', slowestMs: 0 };
    let calls = 0;
    for (let round = 0; round < rounds; round++) {
      for (const [name, attack] of Object.entries(attacks)) {
        const peakBefore = memory.growthBytes;
        const seen = await OrdinaryClient.during(server.grpcPort, async (client) => {
          const untilMs = performance.now() + attackMs;
          const attackers = Array.from({ length: attackersAtOnce }, () =>
            attack(server.grpcPort, untilMs, random.fork()),
          );
          await Promise.all(attackers);
          await client.calls(2);
        });
        promised(!server.hasExited(), `${name}: the server goes on`, server.stderr().slice(-2000));
        calls += seen.calls;
        if (seen.slowestMs > worst.slowestMs) worst = { name, slowestMs: seen.slowestMs };
        promised(seen.slowestMs < slowestMs[size], `${name}: others are answered in time`, seen);
        const growth = memory.growthBytes;
        promised(
          growth < maxGrowthBytes[size],
          `${name}: memory grows by less than ${megabytes(maxGrowthBytes[size])} MB`,
          growth,
        );
        progress(`${name}: slowest ${Math.round(seen.slowestMs)} ms, +${megabytes(growth - peakBefore)} MB`);
      }
    }
    await filesReturnTo(server.pid, before, 20_000);
    await canary.check();
    promised(!/"level":"error"/.test(server.stderr()), 'nothing unforeseen is logged', server.stderr().slice(-2000));
    return {
      attacks: rounds * Object.keys(attacks).length,
      'calls beside': calls,
      'idle slowest ms': Math.round(idle.slowestMs),
      'slowest ms': Math.round(worst.slowestMs),
      'peak growth MB': megabytes(memory.growthBytes),
    };
  },
};
