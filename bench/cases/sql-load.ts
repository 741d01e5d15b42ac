import type { BenchCase, Contender, Reading } from '../harness/bench-case.ts';
import type { Lab } from '../harness/lab.ts';
import { pingWhile } from '../harness/ping-while.ts';
import { watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import type { GrpcServer } from '../harness/server-process.ts';
import type { FrameholdServer } from '../rivals/framehold.ts';
import { startRoapi } from '../rivals/roapi.ts';

/** As many as our server accepts by default. */
const connections = 100;
const underWay = 8;

/** Small and middling ones, whose answers are the same to the last digit on every engine. */
const queries = [
  'select 1 as one',
  "select sum(l_extendedprice * l_discount) as revenue from lineitem where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24",
  'select * from orders where o_orderkey < 4000',
  'select l_returnflag, count(*) as lines, sum(l_quantity) as quantity from lineitem group by l_returnflag',
  'select n_name, count(*) as suppliers from supplier join nation on s_nationkey = n_nationkey group by n_name',
  'select o_orderpriority, count(*) as orders, max(o_totalprice) as dearest from orders group by o_orderpriority',
  'select c_custkey, c_name from customer where c_custkey between 1000 and 3000',
  'select p_brand, min(ps_supplycost) as cheapest from partsupp join part on ps_partkey = p_partkey where p_size = 15 group by p_brand',
];

interface LoadResult {
  readonly queries: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A query that fails fails the case. `/ping` is asked at the same time, in the same rounds. */
export const sqlLoad: BenchCase = {
  name: 'sql-load',
  title: `${connections} ADBC connections with ${underWay} queries over TPC-H SF1 under way: p99 of the queries, and of /ping meanwhile`,
  unit: 'ms',
  better: 'lower',
  rounds: 3,
  bars: [{ kind: 'ceiling', of: 'framehold, /ping', atMost: 50 }],

  async prepare(lab, cleanup) {
    const folder = await lab.tpchFiles();
    const framehold = cleanup.use(await lab.startTpch());
    const tables = ['customer', 'lineitem', 'nation', 'orders', 'part', 'partsupp', 'supplier'];
    const files = Object.fromEntries(tables.map((table) => [table, `${folder}/${table}.parquet`]));
    const roapi = await lab.rival(() => startRoapi(lab.folder, files));
    if (roapi !== undefined) cleanup.use(roapi);

    const clientOf = async ({ grpcUri: uri }: GrpcServer): Promise<PythonClient> => {
      const client = cleanup.use(await PythonClient.start('sql_load', lab.folder));
      await client.ask('open', { uri, count: connections });
      return client;
    };
    const ours = await clientOf(framehold);
    const theirs = roapi === undefined ? undefined : { server: roapi, client: await clientOf(roapi) };
    const both = oncePerRound((round) => underLoad(lab, framehold, ours, round));
    const contenders: Contender[] = [
      { name: 'framehold', measure: async (round) => (await both(round)).queries },
      { name: 'framehold, /ping', measure: async (round) => (await both(round)).pings },
    ];
    if (theirs !== undefined) {
      const { server, client } = theirs;
      contenders.push({
        name: 'roapi',
        async measure() {
          const { result, usage } = await watch(server.pid, () => load(lab, client));
          return { value: result.p99Ms, usage, details: { ...result } };
        },
      });
    }
    return {
      contenders,
      async verify() {
        const expected = await ours.ask<string[][][]>('expected', { folder, queries });
        const clients = [
          { who: 'framehold', client: ours },
          ...(theirs === undefined ? [] : [{ who: 'roapi', client: theirs.client }]),
        ];
        for (const { who, client } of clients) {
          const found = await client.ask<string[][][]>('answers', { queries });
          for (const [at, query] of queries.entries()) {
            if (JSON.stringify(found[at]) === JSON.stringify(expected[at])) continue;
            throw new Error(
              `${who} answered ${JSON.stringify(found[at])?.slice(0, 200)}, not ${JSON.stringify(expected[at])?.slice(0, 200)}, to: ${query}`,
            );
          }
        }
        return `${queries.length} queries, with DuckDB's`;
      },
    };
  },
};

function load(lab: Lab, client: PythonClient): Promise<LoadResult> {
  return client.ask<LoadResult>('load', { queries, under_way: underWay, seconds: lab.quick ? 1 : 10 });
}

async function underLoad(
  lab: Lab,
  server: FrameholdServer,
  client: PythonClient,
  round: number,
): Promise<{ readonly queries: Reading; readonly pings: Reading }> {
  // Compilers and tables become warm; later rounds are.
  if (round === 0) await load(lab, client);
  const { result, usage } = await watch(server.pid, () => pingWhile(server, () => load(lab, client)));
  const quantile = (share: number): number =>
    result.pingsMs[Math.floor(share * (result.pingsMs.length - 1))] ?? Number.NaN;
  const p99Ms = quantile(0.99);
  const pings = result.pingsMs.length;
  return {
    queries: { value: result.result.p99Ms, usage, details: { ...result.result } },
    pings: { value: p99Ms, usage, details: { p50Ms: quantile(0.5), p99Ms, maxMs: quantile(1), pings } },
  };
}

/** Two contenders that are measured at the same time: whichever comes first in a round measures for both. */
function oncePerRound<T>(measure: (round: number) => Promise<T>): (round: number) => Promise<T> {
  const measured = new Map<number, Promise<T>>();
  return (round) => {
    const found = measured.get(round) ?? measure(round);
    measured.set(round, found);
    return found;
  };
}
