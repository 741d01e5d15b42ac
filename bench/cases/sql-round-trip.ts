import type { Cleanup } from '../../src/core/async/cleanup.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { tracedSettings } from '../harness/collector.ts';
import type { Lab, Settings } from '../harness/lab.ts';
import { watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import type { GrpcServer } from '../harness/server-process.ts';
import { startBareHttp2 } from '../rivals/bare-http2.ts';
import { startPyarrow } from '../rivals/pyarrow.ts';
import { startRoapi } from '../rivals/roapi.ts';

interface RoundTripOptions {
  readonly name: string;
  readonly title: string;
  /** Of clients/round_trip.py. */
  readonly operation: 'adbc' | 'ticket';
  /** The least share of the rival's speed. */
  readonly atLeast: number;
  readonly rival: { readonly name: string; readonly start: (lab: Lab, tradesPath: string) => Promise<GrpcServer> };
  /** Of Framehold. Default: the demo's own. */
  readonly settingsOf?: (lab: Lab, cleanup: Cleanup) => Promise<Settings>;
}

export const sqlRoundTripCases: readonly BenchCase[] = [
  sqlRoundTrip({
    name: 'sql-round-trip',
    title: '`select 1` through ADBC (prepare, info, get, close), p50 of one connection',
    operation: 'adbc',
    atLeast: 1,
    rival: { name: 'roapi', start: (lab, trades) => startRoapi(lab.folder, { trades }) },
  }),
  sqlRoundTrip({
    name: 'sql-round-trip-ticket',
    title: '`select 1` as the ticket of one DoGet, p50 of one connection; pyarrow gives a table of one row',
    operation: 'ticket',
    // Its server runs no SQL.
    atLeast: 1 / 3,
    rival: { name: 'pyarrow', start: (lab) => startPyarrow(lab.folder, {}) },
  }),
  sqlRoundTrip({
    name: 'sql-round-trip-traced',
    title:
      '`select 1` as the ticket of one DoGet with a tenth of the calls traced, and with none, p50 of one connection',
    operation: 'ticket',
    atLeast: 0.97,
    rival: { name: 'framehold, untraced', start: (lab) => lab.startDemo() },
    settingsOf: tracedSettings,
  }),
];

function sqlRoundTrip({ name, title, operation, atLeast, rival, settingsOf }: RoundTripOptions): BenchCase {
  return {
    name,
    title,
    unit: 'ms',
    better: 'lower',
    rounds: 5,
    bars: [{ kind: 'ratio', against: rival.name, atLeast }],

    async prepare(lab, cleanup) {
      const tradesPath = await lab.tradesPath();
      const framehold = cleanup.use(await lab.startDemo(await settingsOf?.(lab, cleanup)));
      const theirs = await lab.rival(() => rival.start(lab, tradesPath));
      if (theirs !== undefined) cleanup.use(theirs);

      const contender = async (who: string, { grpcUri: uri, pid }: GrpcServer): Promise<Contender> => {
        const client = cleanup.use(await PythonClient.start('round_trip', lab.folder));
        const ask = (count: number) => client.ask<RoundTrips>(operation, { uri, count });
        return {
          name: who,
          beforeRound: async () => void (await ask(lab.quick ? 20 : 300)),
          async measure() {
            const { result, usage } = await watch(pid, () => ask(lab.quick ? 100 : 2000));
            return { value: result.p50Ms, usage, details: { ...result } };
          },
        };
      };
      const repeating = cleanup.use(await startBareHttp2(lab.folder, framehold));
      const contenders = [
        await contender('framehold', framehold),
        await contender('bare-http2', repeating),
        ...(theirs === undefined ? [] : [await contender(rival.name, theirs)]),
      ];
      return {
        contenders,
        async verify() {
          // The client compares every answer.
          for (const { beforeRound } of contenders) await beforeRound?.(0);
          return 'one row, 1';
        },
      };
    },
  };
}

interface RoundTrips {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requests: number;
}
