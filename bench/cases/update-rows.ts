import { cp, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTrades } from '../data/large-frame.ts';
import type { BenchCase } from '../harness/bench-case.ts';
import type { Lab } from '../harness/lab.ts';
import { postSql } from '../harness/post-sql.ts';
import { untilQuiet, watch } from '../harness/process-tree.ts';
import { PythonClient } from '../harness/python-client.ts';
import { startFramehold, untilReadable } from '../rivals/framehold.ts';

/** The same for our only SQL process and for DuckDB in the client's process. */
const threads = 2;
const memoryGb = 4;
/** The first compression of parts, here the last, too: nothing is compressed again between the rounds. */
const level = 1;
const settings = {
  SQL_WORKERS: '1',
  SQL_THREADS: String(threads),
  SQL_MEMORY: String(memoryGb),
  COMPRESSION_LEVEL: String(level),
};

/** The frame consists of this many appends, whose parts are too large to be merged. */
const appends = 5;
/** The same number in both, for rows in any order and in any files. */
const checksum = 'count(*), sum(hash(epoch_us(timestamp), symbol, side, price, amount, id))::VARCHAR';

interface UpdateRows {
  readonly name: string;
  readonly which: string;
  readonly where: (rows: number) => string;
}

export const updateRowsCases: readonly BenchCase[] = [
  updateRows({
    name: 'update-rows',
    which: 'that lie together',
    where: (rows) => `id >= ${rows / 2} AND id < ${rows / 2 + rows / 100}`,
  }),
  updateRows({ name: 'update-rows-spread', which: 'spread over all its parts', where: () => 'id % 100 = 7' }),
];

function updateRows({ name, which, where: whereOf }: UpdateRows): BenchCase {
  return {
    name,
    title: `UPDATE of 1 % of the rows of a frame of ten million, ${which}, by POST /sql until it is on the disk; DuckDB in process copies all rows of the parts that hold one of them, changed, into one Parquet file; ${threads} threads each`,
    unit: 's',
    better: 'lower',
    rounds: 5,
    bars: [{ kind: 'ratio', against: 'duckdb', atLeast: 1 / 3 }],

    async prepare(lab, cleanup) {
      const { dataDir, rows } = await manyParts(lab);
      const where = whereOf(rows);
      const files = await copiedParts(join(dataDir, 'cold'), join(lab.folder, `${name}-parts`));
      const server = cleanup.use(await startFramehold({ dataDir, logPath: lab.frameholdLog, settings }));
      await untilReadable(server, 'trades');
      await untilQuiet(server.pid);
      const client = cleanup.use(await PythonClient.start('update_rows', lab.folder));
      const set = `CASE WHEN ${where} THEN amount + 1 ELSE amount END AS amount`;
      const amount = await client.ask<Amount>('open', { files, set, where, threads, memory_gb: memoryGb });
      const copy = join(lab.folder, `${name}.parquet`);

      const update = async (): Promise<void> => {
        const { updated } = await postSql(server, `UPDATE trades SET amount = amount + 1 WHERE ${where}`);
        if (updated !== amount.rowsChanged) throw new Error(`${updated} rows were updated, not ${amount.rowsChanged}`);
      };
      return {
        contenders: [
          {
            name: 'framehold',
            beforeRound: () => untilQuiet(server.pid),
            async measure() {
              const { result, usage } = await watch(server.pid, async () => {
                const begunMs = performance.now();
                await update();
                return (performance.now() - begunMs) / 1000;
              });
              return { value: result, usage, details: { ...amount } };
            },
          },
          {
            name: 'duckdb',
            beforeRound: () => untilQuiet(server.pid),
            async measure() {
              const { result, usage } = await watch(client.pid, () =>
                client.ask<{ readonly seconds: number }>('copy', { path: copy, level }),
              );
              return { value: result.seconds, usage, details: { ...amount } };
            },
          },
        ],
        async verify() {
          await update();
          await client.ask('copy', { path: copy, level });
          const expected = JSON.stringify(await client.ask<unknown>('check', { path: copy, checksum }));
          const { dataset } = await postSql(server, `SELECT ${checksum} FROM trades`);
          const found = JSON.stringify(dataset?.[0]);
          if (found !== expected) throw new Error(`ours has ${found}, DuckDB ${expected}`);
          const { parts, partsWritten, rowsWritten, rowsChanged } = amount;
          const shown = (count: number): string => count.toLocaleString('en-US');
          return `${shown(rowsChanged)} rows changed, ${shown(rowsWritten)} rows of ${partsWritten} of ${parts} parts written`;
        },
      };
    },
  };
}

/** The changed rows, and the written bytes. */
interface Amount {
  readonly [name: string]: number;
  readonly parts: number;
  readonly partsWritten: number;
  readonly rowsWritten: number;
  readonly rowsChanged: number;
}

/** Of the frame: one file by its name, or several in a folder. */
async function copiedParts(cold: string, folder: string): Promise<readonly string[]> {
  const names = (await readdir(cold, { recursive: true })).filter((name) => /^trades(\/.*)?\.parquet$/.test(name));
  for (const name of names) await cp(join(cold, name), join(folder, name));
  return names.map((name) => join(folder, name));
}

interface ManyParts {
  readonly dataDir: string;
  readonly rows: number;
}

const made = new WeakMap<Lab, Promise<ManyParts>>();

/** A data directory with the frame `trades` of several parts, made once a run. */
function manyParts(lab: Lab): Promise<ManyParts> {
  const parts = made.get(lab) ?? makeParts(lab);
  made.set(lab, parts);
  return parts;
}

async function makeParts(lab: Lab): Promise<ManyParts> {
  const rows = lab.quick ? 1_000_000 : 10_000_000;
  const dataDir = join(lab.folder, 'update-rows');
  await makeTrades(dataDir, 'trades', rows);
  const cold = join(dataDir, 'cold');
  await rename(join(cold, 'trades.parquet'), join(cold, 'source.parquet'));
  await using server = await startFramehold({ dataDir, logPath: lab.frameholdLog, settings });
  await untilReadable(server, 'source');
  for (let append = 0; append < appends; append++) {
    const from = (append * rows) / appends;
    const query = `SELECT * FROM source WHERE id >= ${from} AND id < ${from + rows / appends}`;
    await postSql(server, append === 0 ? `CREATE TABLE trades AS ${query}` : `INSERT INTO trades ${query}`);
  }
  await untilQuiet(server.pid);
  return { dataDir, rows };
}
