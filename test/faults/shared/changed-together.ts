import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { leavesNothing } from '../disk/private-files.ts';
import type { Address } from '../harness/doors.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { postSql } from '../harness/sql-change.ts';
import { until } from '../harness/until.ts';
import { boundMs, SharedServers } from './shared-servers.ts';

const servers = 2;
const updaters = 2;
const appenders = 2;
const readers = 2;
/** Rows that every life of the frame begins with, by their `id`. */
const rowsAtStart = 40;
/** That a life may take, until it has seen an UPDATE, an INSERT and an ALTER. */
const mostLifeMs = 60_000;

/** Where others change, drop and make the same frame. */
const expectedCodes = ['frame_changed', 'handle_not_found', 'handle_gone', 'handle_exists', 'overloaded'];
/** Of a column that another has dropped with the frame, or that a frame with the name has already. */
const unknownColumn = /column|not found|does not exist|no such|no table/i;

interface Span {
  readonly began: number;
  readonly ended: number;
}

/** A change that was acknowledged: which life of the frame it belongs to shows when it was. */
interface Acknowledged extends Span {
  readonly id: number;
}

/** M3: UPDATE, INSERT, ALTER TABLE and DROP TABLE of one frame, all at once and at two servers, while others read it. */
export const changedTogether: Scenario = {
  id: 'M3',
  promise:
    'UPDATE, INSERT, ALTER and DROP of one frame at two servers at once: each is there once or not, and readers see none half',
  rounds: { ci: 2, release: 300 },
  secondsPerRound: 30,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using shared = new SharedServers(directory.path, servers);
    await shared.startAll();
    const figures = { updates: 0, appends: 0, alters: 0, refused: 0, reads: 0, 'reads of nothing': 0 };
    /** Of the updates of each life: the numbers that RETURNING gave. */
    const returned = new Map<string, number[]>();
    const appends: Acknowledged[] = [];
    const alters: Acknowledged[] = [];
    /** From the beginning of the drop to the end of the making of the next. */
    const lives: Span[] = [];
    let goesOn = true;
    let lastId = 0;

    const change = async (own: Random, sql: string): Promise<(Span & { readonly rows: unknown[][] }) | undefined> => {
      const began = performance.now();
      const answer = await postSql(own.pick(shared.living), sql);
      const { code, error, dataset = [] } = answer.json() as { code?: string; error?: string; dataset?: unknown[][] };
      if (answer.status === 200) return { began, ended: performance.now(), rows: dataset };
      const isAbsent = code === 'sql_error' && unknownColumn.test(error ?? '');
      promised(
        expectedCodes.includes(code ?? '') || isAbsent,
        `${sql} is refused for a reason of its own`,
        answer.text,
      );
      figures.refused++;
      return undefined;
    };
    const update = async (own: Random, counter: number): Promise<void> => {
      const sql = `UPDATE t SET u${counter} = u${counter} + 1 WHERE id < ${rowsAtStart} RETURNING life, u${counter}`;
      const done = await change(own, sql);
      await delay(own.between(0, 300));
      if (done === undefined) return;
      figures.updates++;
      const [[life, value] = []] = done.rows as [number, number][];
      promised(done.rows.length === rowsAtStart, 'an UPDATE changes all its rows', done.rows.length);
      const isOne = (done.rows as [number, number][]).every((row) => row[0] === life && row[1] === value);
      promised(isOne, 'an UPDATE finds all its rows as one version has them', done.rows);
      const key = `${life} ${counter}`;
      returned.set(key, [...(returned.get(key) ?? []), value as number]);
    };
    const append = async (own: Random): Promise<void> => {
      const id = 1000 + ++lastId;
      // A change of columns gives up where rows come without end.
      await delay(own.between(0, 600));
      const done = await change(own, `INSERT INTO t (id, life, u0, u1) VALUES (${id}, 0, 0, 0)`);
      if (done !== undefined) appends.push({ id, ...done });
      if (done !== undefined) figures.appends++;
    };
    const alter = async (own: Random): Promise<void> => {
      const id = ++lastId;
      const done = await change(own, `ALTER TABLE t ADD COLUMN c${id} BIGINT DEFAULT ${id}`);
      if (done !== undefined) figures.alters++;
      // Some stay.
      if (done === undefined || own.chance(0.5)) {
        if (done !== undefined) alters.push({ id, ...done });
        return;
      }
      const dropped = await change(own, `ALTER TABLE t DROP COLUMN c${id}`);
      if (dropped === undefined) alters.push({ id, began: 0, ended: 0 });
    };
    const makeAnew = async (own: Random, life: number): Promise<void> => {
      const rows = `SELECT range AS id, ${life} AS life, 0 AS u0, 0 AS u1 FROM range(${rowsAtStart})`;
      const began = performance.now();
      if (life > 1 && own.chance(0.5)) {
        await made(async () => (await change(own, `CREATE OR REPLACE TABLE t AS ${rows}`)) !== undefined);
      } else {
        if (life > 1) await made(async () => (await change(own, 'DROP TABLE t')) !== undefined);
        await made(async () => (await change(own, `CREATE TABLE t AS ${rows}`)) !== undefined);
      }
      lives.push({ began, ended: performance.now() });
    };
    /** Each reader at one server, where it never sees an older version than before. */
    const read = async (server: Address, before: Found | undefined): Promise<Found | undefined> => {
      const found = await readFrame(server);
      figures[found === undefined ? 'reads of nothing' : 'reads']++;
      if (found === undefined) return before;
      assertWhole(found);
      const isLater = before === undefined || found.life > before.life || isNoOlder(found, before);
      promised(isLater, 'a reader never sees an older version again', { before, found });
      return found;
    };
    const keep = async (act: () => Promise<void>): Promise<void> => {
      try {
        while (goesOn) await act();
      } finally {
        goesOn = false;
      }
    };

    await makeAnew(random, 1);
    const work = [
      ...Array.from({ length: updaters }, (_, counter) => {
        const own = random.fork();
        return keep(() => update(own, counter));
      }),
      ...Array.from({ length: appenders }, () => {
        const own = random.fork();
        return keep(() => append(own));
      }),
      ...Array.from({ length: readers }, (_, at) => {
        let seen: Found | undefined;
        return keep(async () => {
          seen = await read(shared.at(at % servers), seen);
        });
      }),
      (async () => {
        const own = random.fork();
        await keep(() => alter(own));
      })(),
      (async () => {
        const own = random.fork();
        for (let life = 1; life <= rounds && goesOn; life++) {
          const { updates, alters, appends: appended } = figures;
          const isLived = (): boolean =>
            figures.updates > updates && figures.alters > alters && figures.appends > appended;
          await until(
            'a life has seen every kind of change',
            mostLifeMs,
            () => !goesOn || isLived(),
            () => figures,
          );
          await delay(own.between(0, 500));
          await makeAnew(own, life + 1);
          if (life % 10 === 0) progress(`${life} lives, ${JSON.stringify(figures)}`);
        }
        await delay(1000);
        goesOn = false;
      })(),
    ];
    await Promise.all(work);
    await delay(boundMs);
    for (const server of shared.living) {
      const found = await readFrame(server);
      promised(found !== undefined, 'the frame is there at the end');
      assertWhole(found);
      assertLife(found, lives, { appends, alters, returned });
    }
    await leavesNothing(directory.path);
    promised((await change(random, 'UPDATE t SET u0 = -1')) !== undefined, 'the frame can be changed at the end');
    return { lives: lives.length, ...figures, lost: 0, torn: 0 };
  },
};

/** All of a version. */
interface Found {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, number>>[];
  readonly life: number;
  readonly counters: readonly number[];
}

/** Undefined while it is not there. */
async function readFrame(server: Address): Promise<Found | undefined> {
  const answer = await postSql(server, 'FROM t');
  const {
    code,
    columns = [],
    dataset = [],
  } = answer.json() as {
    code?: string;
    columns?: { readonly name: string }[];
    dataset?: number[][];
  };
  if (answer.status !== 200) {
    const isGone = ['sql_error', 'handle_not_found', 'handle_gone', 'overloaded'].includes(code ?? '');
    promised(isGone, 'the frame can be read, or is not there', answer.text);
    return undefined;
  }
  const names = columns.map(({ name }) => name);
  const rows = dataset.map((row) => Object.fromEntries(row.map((value, at) => [names[at] ?? '', value])));
  const [first = {}] = rows;
  return { columns: names, rows, life: first.life ?? 0, counters: [first.u0 ?? 0, first.u1 ?? 0] };
}

function isNoOlder({ life, counters, rows }: Found, before: Found): boolean {
  const isCounted = counters.every((value, at) => value >= (before.counters[at] ?? 0));
  return life === before.life && isCounted && rows.length >= before.rows.length;
}

function assertWhole({ columns, rows, life, counters }: Found): void {
  const first = rows.filter(({ id = 0 }) => id < rowsAtStart);
  promised(first.length === rowsAtStart, 'rows that nobody deletes are there', { columns, rows: rows.slice(0, 5) });
  promised(new Set(rows.map(({ id }) => id)).size === rows.length, 'no row is there twice');
  const isOne = first.every((row) => row.life === life && row.u0 === counters[0] && row.u1 === counters[1]);
  promised(isOne, 'no change is seen half', first);
  for (const name of columns.filter((each) => /^c\d+$/.test(each))) {
    const isFull = rows.every((row) => row[name] === Number(name.slice(1)));
    promised(isFull, `a column has its value in every row: ${name}`, rows);
  }
}

/** The last life of the frame has what was acknowledged in it, and nothing of the one before. */
function assertLife(
  { columns, rows, life, counters }: Found,
  lives: readonly Span[],
  made: {
    readonly appends: readonly Acknowledged[];
    readonly alters: readonly Acknowledged[];
    readonly returned: ReadonlyMap<string, readonly number[]>;
  },
): void {
  const last = lives.at(-1) as Span;
  promised(life === lives.length, 'the frame is the one that was made last', { life, lives: lives.length });
  for (const [counter, value] of counters.entries()) {
    const values = [...(made.returned.get(`${life} ${counter}`) ?? [])].sort((a, b) => a - b);
    const isCounted = values.length === value && values.every((each, at) => each === at + 1);
    promised(isCounted, 'each acknowledged UPDATE counts once, and no other', { value, values });
  }
  const ids = new Set(rows.map(({ id }) => id));
  for (const { id, ...span } of made.appends) {
    if (span.began > last.ended) promised(ids.has(id), 'an acknowledged append is there', id);
    if (span.ended < last.began) promised(!ids.has(id), 'a row of an earlier life is gone', id);
  }
  const names = new Set(columns);
  for (const { id, ...span } of made.alters) {
    if (span.began > last.ended) promised(names.has(`c${id}`), 'a column that was added is there', id);
    if (span.ended < last.began && span.ended > 0)
      promised(!names.has(`c${id}`), 'a column of an earlier life is gone', id);
  }
}

async function made(act: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; !(await act()); attempt++) promised(attempt < 100, 'a frame can be made anew');
}
