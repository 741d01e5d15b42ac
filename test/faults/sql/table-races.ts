import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { Address } from '../harness/doors.ts';
import type { Random } from '../harness/random.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { askSql, type SqlAnswer, type SqlDoor } from './sql-doors.ts';

const clients = 8;
const tables = ['a', 'b', 'c'] as const;
const readers: readonly SqlDoor[] = ['exec', 'post', 'ticket', 'query', 'prepare'];
const writers: readonly SqlDoor[] = ['post', 'update', 'query', 'prepare'];
/** What may be said while others make and drop the same tables. */
const expected = new Set([undefined, 'sql_error', 'handle_exists', 'handle_not_found', 'handle_gone', 'overloaded']);

/** Clients that make, replace, extend, drop and read the same few tables, all at once. */
export const tableRaces: Scenario = {
  id: 'S2',
  promise: 'tables that are made, replaced and dropped while others read them are read whole or not at all',
  rounds: { ci: 50, release: 20_000 },
  secondsPerRound: 0.25,
  async run({ rounds, random, progress }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path, flags: ['--sql-workers', '3'] });
    const history = new Histories();
    const counts = { reads: 0, 'reads of nothing': 0, writes: 0, refused: 0 };
    let left = rounds;
    const work = async (client: number, own: Random): Promise<void> => {
      while (left-- > 0) {
        const table = own.pick(tables);
        if (own.chance(0.4)) {
          const isWritten = await change(server, table, history, own, client);
          counts[isWritten ? 'writes' : 'refused']++;
        } else {
          const isThere = await read(server, table, history, own);
          counts[isThere ? 'reads' : 'reads of nothing']++;
        }
        promised(!server.hasExited(), 'the server goes on', server.stderr().slice(-2000));
        if (left % 500 === 0) progress(`${rounds - left} statements`);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => work(client, random.fork())));
    promised(counts.reads > rounds / 20 && counts.writes > rounds / 20, 'there was enough to see', counts);
    return counts;
  },
};

/**
 * A version is known by its number, which stands in each of its rows; so is the number of its rows. One that was
 * extended has the rows of several.
 */
class Histories {
  #number = 0;
  readonly #rows = new Map<number, number>();

  next(random: Random): { number: number; rows: number } {
    const made = { number: ++this.#number, rows: random.pick([1, 10, 3000, 20_000]) };
    this.#rows.set(made.number, made.rows);
    return made;
  }

  rowsOf(number: number): number | undefined {
    return this.#rows.get(number);
  }
}

async function change(
  to: Address,
  table: string,
  history: Histories,
  random: Random,
  client: number,
): Promise<boolean> {
  const { number, rows } = history.next(random);
  const source = `SELECT ${number}::BIGINT AS n, range AS i, 'client ${client}' AS t FROM range(${rows})`;
  const sql = random.pick([
    `CREATE OR REPLACE TABLE ${table} AS ${source}`,
    `CREATE OR REPLACE TABLE ${table} AS ${source}`,
    `CREATE TABLE ${table} AS ${source}`,
    `CREATE TABLE IF NOT EXISTS ${table} AS ${source}`,
    `INSERT INTO ${table} ${source}`,
    `DROP TABLE ${table}`,
    `DROP TABLE IF EXISTS ${table}`,
  ]);
  const answer = await askSql(to, random.pick(writers), sql, random);
  checkCode(answer, sql);
  return answer.code === undefined;
}

/** Whether there was such a table. */
async function read(to: Address, table: string, history: Histories, random: Random): Promise<boolean> {
  // All reads of one statement are of one version, also where the table stands in it more than once.
  const groups = `SELECT n, count(*) AS c, count(DISTINCT i) AS d, max(i) AS m FROM ${table} GROUP BY n`;
  const same = `SELECT (SELECT count(*) FROM ${table}) = (SELECT sum(1) FROM ${table} x)`;
  const listed = `string_agg(format('{}/{}/{}/{}', n, c, d, m), ' ' ORDER BY n)`;
  const sql = `SELECT 'rows:' || ${listed} || ';' || (${same}) AS v FROM (${groups})`;
  const answer = await askSql(to, random.pick(readers), sql, random);
  checkCode(answer, sql);
  if (answer.code !== undefined) return false;
  const [, shown, isOne] = /rows:(\d[\d/ ]*);(true|false)/.exec(answer.text) ?? [];
  promised(shown !== undefined, 'a table that is there has rows', answer.text.slice(-500));
  promised(isOne === 'true', 'one statement reads one version', answer.text.slice(-500));
  for (const group of shown.split(' ')) {
    const [number = 0, count, distinct, last = 0] = group.split('/').map(Number);
    const rows = history.rowsOf(number) ?? 0;
    promised(count === rows && distinct === rows && last === rows - 1, `write ${number} is read whole`, {
      group,
      rows,
    });
  }
  return true;
}

function checkCode({ code, text }: SqlAnswer, sql: string): void {
  promised(expected.has(code), `${sql} is refused for a reason of its own, if at all`, {
    code,
    text: text.slice(-600),
  });
}
