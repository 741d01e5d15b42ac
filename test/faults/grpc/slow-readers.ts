import { proto } from '../../support/flight-sql-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { putCanary } from './canary.ts';
import { callFrames, setting } from './http2-frames.ts';
import { putLarge } from './large-frame.ts';
import { OrdinaryClient } from './ordinary-client.ts';
import { comesTrue, filesReturnTo, MemoryWatch, openFiles } from './process-family.ts';
import { framed } from './raw-calls.ts';
import { RawConnection } from './raw-connection.ts';

const doGet = '/arrow.flight.protocol.FlightService/DoGet';
/** `docs/reference/grpc.md`: a client that takes nothing for 30 seconds is cut off. */
const stallMs = 30_000;
const connections = 20;
const bytesEach = 2 ** 20;
/** What the server takes for reading the frame at all, whoever reads it. */
const baseBytes = 200e6;

/** O2 over gRPC: many who ask for a large frame and then take nothing of it. */
export const slowReaders: Scenario = {
  id: 'O2-GRPC',
  promise: 'a reader that takes nothing holds at most 1 MiB, is cut off after 30 s, and hinders nobody',
  rounds: { ci: 0, release: 200 },
  secondsPerRound: 3,
  async run({ rounds, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    await putCanary(server);
    await putLarge(server, size === 'ci' ? 100e6 : 1e9);
    const filesBefore = openFiles(server.pid);
    const idle = await OrdinaryClient.during(server.grpcPort, (client) => client.calls(50));
    using memory = new MemoryWatch(server.pid);
    const message = framed(proto([1, 'large']));
    const opened = Array.from({ length: connections }, () =>
      RawConnection.open(server.grpcPort, [setting.initialWindowSize, 0]),
    );
    const startedAt = performance.now();
    for (let reader = 0; reader < rounds; reader++) {
      const connection = opened[reader % connections] as RawConnection;
      connection.write(callFrames(2 * Math.floor(reader / connections) + 1, doGet, message));
    }
    const open = (): number => rounds - opened.reduce((sum, { ended }) => sum + ended.size, 0);
    let firstCutMs = 0;
    const seen = await OrdinaryClient.during(server.grpcPort, async () => {
      await comesTrue(() => open() < rounds, stallMs + 30_000);
      firstCutMs = performance.now() - startedAt;
      progress(`first reader cut after ${Math.round(firstCutMs)} ms`);
      await comesTrue(() => open() === 0, 30_000);
    });
    const allCutMs = performance.now() - startedAt;
    promised(open() === 0, 'readers that take nothing are cut off', { left: open(), allCutMs });
    promised(firstCutMs > stallMs - 2000, 'no reader is cut off before its time', firstCutMs);
    const held = memory.growthBytes;
    promised(held < baseBytes + rounds * bytesEach, 'a reader that takes nothing holds at most 1 MiB', held);
    const slowest = size === 'ci' ? Math.max(5000, idle.slowestMs * 20) : Math.max(500, idle.slowestMs * 5);
    promised(seen.slowestMs < slowest, 'others are answered as ever', { idle, seen });
    for (const connection of opened) connection[Symbol.dispose]();
    await filesReturnTo(server.pid, filesBefore, 20_000);
    promised(!/"level":"error"/.test(server.stderr()), 'nothing unforeseen is logged', server.stderr().slice(-2000));
    return {
      readers: rounds,
      'held KB each': Math.round(held / rounds / 1000),
      'first cut s': Math.round(firstCutMs / 1000),
      'all cut s': Math.round(allCutMs / 1000),
      'slowest call beside ms': Math.round(seen.slowestMs),
      'idle slowest ms': Math.round(idle.slowestMs),
    };
  },
};
