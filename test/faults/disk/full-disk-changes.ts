import { ask } from '../../support/http-client.ts';
import { type SpawnedFramehold, spawnFramehold } from '../../support/spawned-framehold.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { changeBySql, postSql, rowsBySql } from '../harness/sql-change.ts';
import { wasFull } from './full-disk.ts';
import { endingOf } from './large-writes.ts';
import { leavesNothing } from './private-files.ts';
import { smallDisk } from './small-disk.ts';

const rowCount = 12_000;
const pageBytes = 4096;

/** A statement, and the rows that the frame has behind it, told from those before. */
interface Change {
  readonly sql: string;
  readonly after: string;
  /** The room that it is left, at most, so that it is too little at some point of it. */
  readonly mostPages: number;
}

/** Each needs what the ones before it have made: they are done in this order, again and again. */
const changes: readonly Change[] = [
  {
    sql: `UPDATE t SET text = md5(text) || md5(text || 'x'), a = a + 1`,
    after: `SELECT id, a + 1 AS a, md5(text) || md5(text || 'x') AS text FROM t`,
    mostPages: 600,
  },
  {
    sql: `MERGE INTO t USING (SELECT range * 2 AS id FROM range(${rowCount})) AS s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET a = t.a + 2 WHEN NOT MATCHED THEN INSERT (id, a, text) VALUES (s.id, 0, md5(s.id::VARCHAR))`,
    after: `SELECT id, CASE WHEN id % 2 = 0 AND id < ${2 * rowCount} THEN a + 2 ELSE a END AS a, text FROM t UNION ALL
      SELECT id, 0 AS a, md5(id::VARCHAR) AS text FROM (SELECT range * 2 AS id FROM range(${rowCount})) WHERE id NOT IN (SELECT id FROM t)`,
    mostPages: 600,
  },
  {
    sql: `ALTER TABLE t ADD COLUMN more VARCHAR DEFAULT md5('x')`,
    after: `SELECT *, md5('x') AS more FROM t`,
    mostPages: 400,
  },
  {
    sql: `ALTER TABLE t ALTER more TYPE VARCHAR USING md5(text || more)`,
    after: `SELECT * REPLACE (md5(text || more) AS more) FROM t`,
    mostPages: 400,
  },
  { sql: 'ALTER TABLE t DROP COLUMN more', after: 'SELECT * EXCLUDE (more) FROM t', mostPages: 400 },
  { sql: `DELETE FROM t WHERE id >= ${rowCount}`, after: `FROM t WHERE id < ${rowCount}`, mostPages: 300 },
];

/** Without the cache on disk: it would make the room that is to be missing. */
const flags = ['--disk-cache-size', '0'];

/** D3c: the disk runs full at some point of a statement that changes a frame, or makes a view. */
export const fullDiskChanges: Scenario = {
  id: 'D3-changes',
  promise:
    'UPDATE, DELETE, MERGE, ALTER and CREATE VIEW on a full disk do all or nothing, leave nothing, and work with room',
  rounds: { ci: 6, release: 600 },
  secondsPerRound: 6,
  needs: ['mount'],
  async run({ rounds, random, progress }: Trial) {
    await using disk = await smallDisk({ bytes: 32 * 2 ** 20 });
    await using server = await spawnFramehold({ dataDir: disk.path, flags });
    const made = await changeBySql(
      server,
      `CREATE TABLE t AS SELECT range AS id, 0::BIGINT AS a, md5(range::VARCHAR) AS text FROM range(${rowCount})`,
    );
    promised(made === 'acknowledged', 'a frame is made');
    const counts = { refused: 0, kept: 0, 'views refused': 0, 'views kept': 0 };
    for (let round = 0; round < rounds; round++) {
      const change = changes[round % changes.length] as Change;
      const [before, after] = [await contentOf(server, 'FROM t'), await contentOf(server, change.after)];
      await disk.leave(random.between(0, change.mostPages) * pageBytes);
      const ending = endingOf(await postSql(server, change.sql));
      const found = await contentOf(server, 'FROM t');
      promised(wasFull(ending) || ending === 'kept', `a full disk is called so: ${change.sql}`, ending);
      const expected = ending === 'kept' ? after : before;
      promised(found === expected, 'a statement does all or nothing', { ending, before, after, found });
      counts[ending === 'kept' ? 'kept' : 'refused']++;
      await disk.leave(random.between(0, 3) * pageBytes);
      const isKept = await makesView(server, `v${round}`, round);
      counts[isKept ? 'views kept' : 'views refused']++;
      disk.makeRoom();
      await leavesNothing(disk.path);
      if (ending !== 'kept') {
        const again = endingOf(await postSql(server, change.sql));
        promised(again === 'kept', `with room the statement works, without a restart: ${change.sql}`, again);
        promised((await contentOf(server, 'FROM t')) === after, 'and does all');
      }
      promised(isKept || (await makesView(server, `v${round}`, round)), 'with room a view can be made');
      const dropped = await changeBySql(server, `DROP VIEW v${round}`);
      promised(dropped === 'acknowledged', 'a view can be dropped');
      if (round % 20 === 19) progress(`${round + 1} rounds, ${counts.refused} changes refused`);
    }
    promised(counts.refused >= rounds / 8, 'there was too little room often enough', counts);
    promised(!server.hasExited(), 'the server runs on');
    return { points: rounds, ...counts };
  },
};

/** Whether there was room for it. */
async function makesView(server: SpawnedFramehold, name: string, round: number): Promise<boolean> {
  const ending = endingOf(await postSql(server, `CREATE VIEW ${name} AS SELECT id FROM t WHERE id < ${round + 1}`));
  const { status, text } = await ask(`${server.url}/exec?handle=${name}&fmt=json&limit=1,`);
  promised(wasFull(ending) || ending === 'kept', 'a full disk is called so where a view is made', ending);
  promised(status === (ending === 'kept' ? 200 : 404), 'a view is there or not', { ending, text: text.slice(0, 300) });
  return ending === 'kept';
}

/** What the rows hold, in any order. */
async function contentOf(server: SpawnedFramehold, rows: string): Promise<string> {
  const sql = `SELECT count(*), sum(hash(to_json(x)::VARCHAR))::VARCHAR FROM (${rows}) AS x`;
  const [content] = await rowsBySql(server, sql);
  return JSON.stringify(content);
}
