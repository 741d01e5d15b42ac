import { setTimeout as delay } from 'node:timers/promises';
import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { changeBySql, type SqlChange } from '../harness/sql-change.ts';

/** Rows that are there from the start, in three parts. Those beyond `counted` are deleted one by one. */
const counted = 60;
const deletable = 300;
const classes = 3;
/** The class of rows that MERGE changes; with each change it also adds a row behind this number. */
const merged = 2;
const firstAdded = 100_000;

interface Tally {
  acknowledged: number;
  unanswered: number;
}

/** D1c: several statements change one frame while others append to it, and the server is killed. */
export const changedRows: Scenario = {
  id: 'D1c',
  promise: 'kill -9 amid UPDATE, DELETE, MERGE and appends: each acknowledged change is there once, whole and in order',
  rounds: { ci: 2, release: 300 },
  secondsPerRound: 30,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const figures = { acks: 0, unanswered: 0, refused: 0 };
    for (let round = 0; round < rounds; round++) {
      const frame = `changed_${round}`;
      const updates: Tally[] = Array.from({ length: classes }, () => ({ acknowledged: 0, unanswered: 0 }));
      const appended = new Map<number, boolean>();
      const deleted = new Map<number, boolean>();
      {
        await using server = await spawnFramehold({ dataDir: directory.path });
        await makeFrame(server, frame);
        const run = async (sql: string): Promise<SqlChange> => {
          const outcome = await changeBySql(server, sql);
          figures[outcome === 'acknowledged' ? 'acks' : outcome]++;
          return outcome;
        };
        const updater = async (k: number): Promise<void> => {
          const tally = updates[k] as Tally;
          for (let at = 0; !server.hasExited(); at++) {
            const outcome = await run(k === merged ? mergeOf(frame, at) : updateOf(frame, k));
            if (outcome !== 'refused') tally[outcome]++;
          }
        };
        const appender = async (): Promise<void> => {
          for (let id = 1000; !server.hasExited(); id++) {
            const outcome = await run(`INSERT INTO ${frame} VALUES (${id}, 0)`);
            if (outcome !== 'refused') appended.set(id, outcome === 'acknowledged');
          }
        };
        const deleter = async (): Promise<void> => {
          for (let id = counted; id < deletable && !server.hasExited(); id++) {
            const outcome = await run(`DELETE FROM ${frame} WHERE id = ${id}`);
            if (outcome !== 'refused') deleted.set(id, outcome === 'acknowledged');
          }
        };
        const work = [...updates.keys()].map(updater);
        const killer = delay(random.between(500, 4000)).then(() => server.kill('SIGKILL'));
        await Promise.all([...work, appender(), deleter(), killer]);
      }
      await using server = await spawnFramehold({ dataDir: directory.path });
      assertRows(await rowsOf(server, frame), { updates, appended, deleted });
      if (round % 20 === 19) progress(`${round + 1} kills, ${figures.acks} changes acknowledged`);
    }
    promised(figures.acks > rounds, 'there were enough changes to say anything', figures.acks);
    return { kills: rounds, ...figures, lost: 0, double: 0 };
  },
};

async function makeFrame(server: SpawnedFramehold, frame: string): Promise<void> {
  const rows = (from: number, to: number): string => `SELECT range AS id, 0::BIGINT AS a FROM range(${from}, ${to})`;
  for (const sql of [
    `CREATE TABLE ${frame} AS ${rows(0, 50)}`,
    `INSERT INTO ${frame} ${rows(50, 200)} RETURNING id`,
    `INSERT INTO ${frame} ${rows(200, deletable)} RETURNING id`,
  ]) {
    promised((await changeBySql(server, sql)) === 'acknowledged', 'a frame is made without a fault', sql);
  }
}

function updateOf(frame: string, k: number): string {
  return `UPDATE ${frame} SET a = a + 1 WHERE id < ${counted} AND id % ${classes} = ${k}`;
}

/** The same as an UPDATE of its class, and a row more. */
function mergeOf(frame: string, at: number): string {
  const ids = `SELECT range AS id FROM range(${counted}) WHERE range % ${classes} = ${merged}`;
  return `MERGE INTO ${frame} AS t USING (${ids} UNION ALL SELECT ${firstAdded + at}) AS s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET a = t.a + 1 WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, 0)`;
}

async function rowsOf(server: SpawnedFramehold, frame: string): Promise<readonly [number, number][]> {
  const answer = await ask(`${server.url}/exec?handle=${frame}&fmt=json&limit=100000`);
  promised(answer.status === 200, 'the frame is there', answer.text);
  return answer.json().dataset as [number, number][];
}

function assertRows(
  rows: readonly (readonly [number, number])[],
  found: {
    readonly updates: readonly Tally[];
    readonly appended: ReadonlyMap<number, boolean>;
    readonly deleted: ReadonlyMap<number, boolean>;
  },
): void {
  const all = rows.map(([id]) => id);
  promised(new Set(all).size === all.length, 'no row is there twice', all);
  const ids = all.filter((id) => id < firstAdded);
  promised(
    ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0)),
    'the rows are in their order',
    ids,
  );
  const held = new Set(ids);
  for (let id = 0; id < counted; id++) promised(held.has(id), 'a row that nobody deletes stays', id);
  for (let id = counted; id < deletable; id++) {
    const outcome = found.deleted.get(id);
    if (outcome !== false)
      promised(held.has(id) !== outcome || outcome === undefined, 'a row is deleted once it is said so', id);
    if (outcome === undefined) promised(held.has(id), 'a row that was not deleted stays', id);
  }
  for (const [id, isAcknowledged] of found.appended) {
    if (isAcknowledged) promised(held.has(id), 'an acknowledged append is there', id);
  }
  for (const [k, { acknowledged, unanswered }] of found.updates.entries()) {
    const values = new Set(rows.filter(([id]) => id < counted && id % classes === k).map(([, a]) => a));
    const [value = -1] = values;
    promised(values.size === 1, 'an UPDATE changes all its rows or none', [...values]);
    const added = all.length - ids.length;
    promised(k !== merged || added === value, 'a MERGE changes and adds rows at once', { added, value });
    promised(value >= acknowledged && value <= acknowledged + unanswered, 'each acknowledged UPDATE is there once', {
      value,
      acknowledged,
      unanswered,
    });
  }
}
