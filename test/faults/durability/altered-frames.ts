import { setTimeout as delay } from 'node:timers/promises';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { leavesNothing } from '../disk/private-files.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { changeBySql, rowsBySql, type SqlChange } from '../harness/sql-change.ts';
import { until } from '../harness/until.ts';

/** Rows that are there from the start, in three parts. */
const rowsAtStart = 300;
/** Rows that others add have numbers from here on. */
const firstAppended = 1000;
/** For columns to be changed, on a machine that has much other work. */
const mostWaitMs = 60_000;

/** A column that was added: its value in every row, and as what. */
interface Added {
  readonly name: string;
  readonly value: number | string;
}

/** A change of the columns, and those that there are when it is done. */
interface Step {
  readonly sql: string;
  readonly columns: readonly Added[];
}

/** D1d: one changes the columns of a frame while others append to it and update it, and the server is killed. */
export const alteredFrames: Scenario = {
  id: 'D1d',
  promise: 'kill -9 amid ALTER TABLE, UPDATE and appends: a frame has the columns of before or after, and all its rows',
  rounds: { ci: 2, release: 300 },
  secondsPerRound: 30,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const figures = { acks: 0, altered: 0, unanswered: 0, refused: 0 };
    for (let round = 0; round < rounds; round++) {
      const frame = `altered_${round}`;
      let columns: readonly Added[] = [];
      /** Those of a change that was not answered. */
      let maybe: readonly Added[] | undefined;
      const updates = { acknowledged: 0, unanswered: 0 };
      const appended = new Map<number, SqlChange>();
      {
        await using server = await spawnFramehold({ dataDir: directory.path });
        for (const sql of framesOfParts(frame)) {
          promised((await changeBySql(server, sql)) === 'acknowledged', 'a frame is made without a fault', sql);
        }
        const run = async (sql: string): Promise<SqlChange> => {
          const outcome = await changeBySql(server, sql);
          figures[outcome === 'acknowledged' ? 'acks' : outcome]++;
          return outcome;
        };
        // A change of columns that writes all rows anew is refused where others write without end.
        const pause = (): Promise<void> => delay(random.between(20, 200));
        const alterer = async (): Promise<void> => {
          for (let at = 0; !server.hasExited(); ) {
            const step = stepOf(frame, at, columns);
            const outcome = await run(step.sql);
            if (outcome === 'unanswered') maybe = step.columns;
            if (outcome !== 'acknowledged') continue;
            columns = step.columns;
            figures.altered++;
            at++;
          }
        };
        const updater = async (): Promise<void> => {
          while (!server.hasExited()) {
            const outcome = await run(`UPDATE ${frame} SET a = a + 1 WHERE id < ${rowsAtStart}`);
            if (outcome !== 'refused') updates[outcome]++;
            await pause();
          }
        };
        const appender = async (): Promise<void> => {
          for (let id = firstAppended; !server.hasExited(); id++) {
            appended.set(id, await run(`INSERT INTO ${frame} (id, a) VALUES (${id}, 0)`));
            await pause();
          }
        };
        const wanted = figures.altered + random.between(1, 10);
        const killer = async (): Promise<void> => {
          await until('columns are changed', mostWaitMs, () => figures.altered >= wanted);
          await delay(random.between(0, 300));
          server.kill('SIGKILL');
        };
        await Promise.all([alterer(), updater(), appender(), killer()]);
      }
      await using server = await spawnFramehold({ dataDir: directory.path });
      const found = await rowsBySql<[number, number]>(server, `SELECT id, a FROM ${frame}`);
      assertRows(found, updates, appended);
      const wanted = [columns, ...(maybe === undefined ? [] : [maybe])];
      await assertColumns(server, frame, wanted, found.length);
      await leavesNothing(directory.path);
      for (const sql of [
        `ALTER TABLE ${frame} ADD COLUMN last BIGINT DEFAULT 1`,
        `UPDATE ${frame} SET last = 2`,
        `INSERT INTO ${frame} (id, a) VALUES (-1, 0)`,
      ]) {
        promised((await changeBySql(server, sql)) === 'acknowledged', 'the frame can be changed again', sql);
      }
      const [[sum] = []] = await rowsBySql<[number]>(server, `SELECT sum(last)::BIGINT FROM ${frame}`);
      promised(sum === 2 * found.length + 1, 'and has what it was given', sum);
      if (round % 20 === 19) progress(`${round + 1} kills, ${figures.altered} changes of columns acknowledged`);
    }
    return { kills: rounds, ...figures, lost: 0, torn: 0 };
  },
};

function framesOfParts(frame: string): readonly string[] {
  const rows = (from: number, to: number): string => `SELECT range AS id, 0::BIGINT AS a FROM range(${from}, ${to})`;
  return [
    `CREATE TABLE ${frame} AS ${rows(0, 50)}`,
    `INSERT INTO ${frame} ${rows(50, 200)} RETURNING id`,
    `INSERT INTO ${frame} ${rows(200, rowsAtStart)} RETURNING id`,
  ];
}

/** In turn: a column comes, gets another type, another name, and the oldest goes. */
function stepOf(frame: string, at: number, columns: readonly Added[]): Step {
  const alter = `ALTER TABLE ${frame}`;
  const number = Math.floor(at / 4);
  const name = `c${number}`;
  const others = columns.filter((column) => column.name !== name);
  switch (at % 4) {
    case 0:
      return {
        sql: `${alter} ADD COLUMN ${name} BIGINT DEFAULT ${number}`,
        columns: [...columns, { name, value: number }],
      };
    case 1:
      return {
        sql: `${alter} ALTER ${name} TYPE VARCHAR`,
        columns: [...others, { name, value: String(number) }],
      };
    case 2:
      return {
        sql: `${alter} RENAME COLUMN ${name} TO d${number}`,
        columns: [...others, { name: `d${number}`, value: String(number) }],
      };
    default: {
      const [oldest, ...rest] = columns;
      // Some stay, so that rows have columns to be torn between.
      if (oldest === undefined || columns.length < 3) return { sql: `${alter} ALTER a SET DEFAULT ${number}`, columns };
      return { sql: `${alter} DROP COLUMN ${oldest.name}`, columns: rest };
    }
  }
}

function assertRows(
  rows: readonly (readonly [number, number])[],
  updates: { readonly acknowledged: number; readonly unanswered: number },
  appended: ReadonlyMap<number, SqlChange>,
): void {
  const ids = rows.map(([id]) => id);
  const held = new Set(ids);
  promised(held.size === ids.length, 'no row is there twice', ids);
  for (let id = 0; id < rowsAtStart; id++) promised(held.has(id), 'a row that nobody deletes stays', id);
  for (const [id, outcome] of appended) {
    if (outcome === 'acknowledged') promised(held.has(id), 'an acknowledged append is there', id);
    if (outcome === 'refused') promised(!held.has(id), 'a refused append is not there', id);
  }
  const values = new Set(rows.filter(([id]) => id < rowsAtStart).map(([, a]) => a));
  const [value = -1] = values;
  promised(values.size === 1, 'an UPDATE changes all its rows or none', [...values]);
  const { acknowledged, unanswered } = updates;
  const isRight = value >= acknowledged && value <= acknowledged + unanswered;
  promised(isRight, 'each acknowledged UPDATE is there once', { value, ...updates });
}

/** One of the states, in every row. */
async function assertColumns(
  server: { readonly url: string },
  frame: string,
  states: readonly (readonly Added[])[],
  rowCount: number,
): Promise<void> {
  const described = await rowsBySql<[string]>(server, `DESCRIBE ${frame}`);
  const names = described.map(([name]) => name).filter((name) => !['id', 'a'].includes(name));
  const state = states.find((columns) => sorted(columns.map(({ name }) => name)) === sorted(names));
  promised(state !== undefined, 'the columns are those of before or after', { names, states });
  for (const { name, value } of state) {
    const literal = typeof value === 'string' ? `'${value}'` : value;
    const sql = `SELECT count(*), min(typeof(${name})) FROM ${frame} WHERE ${name} = ${literal}`;
    const [[count, type] = []] = await rowsBySql<[number, string]>(server, sql);
    // A column may have the type of before a change that was not answered.
    const isTyped = states.length > 1 || type === (typeof value === 'string' ? 'VARCHAR' : 'BIGINT');
    promised(count === rowCount && isTyped, 'a column has its value in every row', { name, value, count, type });
  }
}

function sorted(names: readonly string[]): string {
  return [...names].sort().join();
}
