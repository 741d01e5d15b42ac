import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTrades } from '../data/large-frame.ts';
import type { BenchCase, Contender } from '../harness/bench-case.ts';
import { assertSameTable, type Checksums, tableSize } from '../harness/checksums.ts';
import { type Lab, tradeRows } from '../harness/lab.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { median } from '../harness/rounds.ts';
import { startFramehold } from '../rivals/framehold.ts';
import { startPyarrow } from '../rivals/pyarrow.ts';
import { startQuestDb, tradesSchema } from '../rivals/questdb.ts';

interface FlightPutOptions {
  readonly name: string;
  readonly rows: number;
  /** Puts of one contender in one round. */
  readonly times: number;
  /** Puts of each contender before the first round, after which compilers have done most of their work. */
  readonly warmUps: number;
}

export const flightPutCases: readonly BenchCase[] = [
  flightPut({ name: 'flight-put', rows: tradeRows, times: 5, warmUps: 12 }),
  flightPut({ name: 'flight-put-large', rows: 5 * tradeRows, times: 1, warmUps: 3 }),
];

/** Ours and QuestDB's rows are on the disk when the time ends; those of pyarrow only in memory. */
function flightPut({ name, rows, times, warmUps }: FlightPutOptions): BenchCase {
  return {
    name,
    title: `${rows.toLocaleString('en-US')} rows of trades by DoPut, until the acknowledgement; QuestDB by CSV to /imp, until all rows can be read`,
    unit: 'rows/s',
    better: 'higher',
    rounds: 5,
    bars: [
      { kind: 'floor', of: 'framehold', atLeast: 2_000_000 },
      { kind: 'ratio', against: 'questdb', atLeast: 4 },
    ],

    async prepare(lab, cleanup) {
      const path = await tradesOf(lab, lab.quick ? tradeRows : rows);
      const dataDir = await mkdtemp(join(lab.folder, 'put-'));
      const framehold = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog }));
      const pyarrow = await lab.rival(() => startPyarrow(lab.folder, {}));
      const questdb = await lab.rival(() => startQuestDb(lab.folder));

      const client = async (program: string, parameters: Readonly<Record<string, unknown>>) => {
        const started = cleanup.use(await PythonClient.start(program, lab.folder));
        return { client: started, loaded: await started.ask<Checksums>('load', { path, ...parameters }) };
      };
      const ours = await client('flight_put', {});
      const writers: Writer[] = [
        { name: 'framehold', pid: framehold.pid, client: ours.client, into: handleAt(framehold.grpcUri) },
      ];
      if (pyarrow !== undefined) {
        cleanup.use(pyarrow);
        writers.push({
          name: 'pyarrow, in memory',
          pid: pyarrow.pid,
          client: (await client('flight_put', {})).client,
          into: handleAt(pyarrow.grpcUri),
        });
      }
      if (questdb !== undefined) {
        const { host, port, pid } = cleanup.use(questdb);
        writers.push({
          name: 'questdb',
          pid,
          client: (await client('csv_import', { schema: tradesSchema })).client,
          into: (table) => ({ host, port, table }),
        });
      }
      return {
        contenders: writers.map((writer) =>
          contender(writer, lab.quick ? { times: 1, warmUps: 1 } : { times, warmUps }),
        ),
        async verify() {
          for (const { name: who, client: writer, into } of writers) {
            await writer.ask('put', into('verified'));
            assertSameTable(ours.loaded, await writer.ask<Checksums>('check', into('verified')), who);
            await writer.ask('drop', into('verified'));
          }
          return `${tableSize(ours.loaded)}, read again after the put`;
        },
      };
    },
  };
}

interface Writer {
  readonly name: string;
  readonly pid: number;
  readonly client: PythonClient;
  /** Where a put of this name goes. */
  readonly into: (name: string) => Readonly<Record<string, string | number>>;
}

function handleAt(uri: string): Writer['into'] {
  return (handle) => ({ uri, handle });
}

interface Put {
  readonly seconds: number;
  readonly rows: number;
}

function contender(
  { name, pid, client, into }: Writer,
  { times, warmUps }: Pick<FlightPutOptions, 'times' | 'warmUps'>,
): Contender {
  return {
    name,
    async beforeRound(round) {
      for (let at = 0; round === 0 && at < warmUps; at++) {
        await client.ask('put', into(`warm_up_${at}`));
        await client.ask('drop', into(`warm_up_${at}`));
      }
      // Background work of the put before must not count for this one.
      await untilQuiet(pid);
    },
    async measure(round) {
      const targets = Array.from({ length: times }, (_, at) => into(`put_${round}_${at}`));
      const { result, usage } = await watch(pid, async () => {
        const puts: Put[] = [];
        for (const target of targets) puts.push(await client.ask<Put>('put', target));
        return puts;
      });
      for (const target of targets) await client.ask('drop', target);
      const seconds = median(result.map((put) => put.seconds));
      return { value: (result[0]?.rows ?? 0) / seconds, usage, details: { seconds } };
    },
  };
}

async function tradesOf(lab: Lab, rows: number): Promise<string> {
  if (rows === tradeRows) return lab.tradesPath();
  const folder = join(lab.folder, 'large-put');
  await mkdir(folder, { recursive: true });
  await makeTrades(folder, 'trades', rows);
  return join(folder, 'cold', 'trades.parquet');
}
