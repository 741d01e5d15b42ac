import { type Answer, ask } from './http-client.ts';
import { type QuestDb, type QuestDbOptions, startQuestDb } from './questdb.ts';

/** A QuestDB whose statements a test runs itself. */
export interface LiveQuestDb extends QuestDb {
  /** With user and password, as in a server's settings. */
  readonly loginUrl: string;
  /** Runs statements one by one; resolves with the rows of the last one, once all that was written is seen. */
  run(...statements: readonly string[]): Promise<readonly (readonly unknown[])[]>;
}

export async function startLiveQuestDb(options: QuestDbOptions = {}): Promise<LiveQuestDb> {
  const questdb = await startQuestDb(options);
  const { user, password = '' } = options;
  const { host } = new URL(questdb.url);
  const login = user === undefined ? '' : `${user}:${encodeURIComponent(password)}@`;
  const headers = user === undefined ? {} : { authorization: `Basic ${btoa(`${user}:${password}`)}` };
  const exec = async (query: string): Promise<Record<string, unknown>> => {
    const { status, text } = await ask(`${questdb.url}/exec?${new URLSearchParams({ query })}`, { headers });
    if (status !== 200) throw new Error(`QuestDB refuses ${query}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  return Object.assign(Object.create(questdb) as QuestDb, {
    loginUrl: `http://${login}${host}`,
    async run(...statements: readonly string[]) {
      let rows: readonly (readonly unknown[])[] = [];
      for (const statement of statements) {
        rows = ((await exec(statement)).dataset ?? []) as typeof rows;
        const [, table] = /^(?:insert into|create table|alter table) (?:if not exists )?(\w+)/i.exec(statement) ?? [];
        if (table !== undefined) await exec(`select wait_wal_table('${table}')`).catch(() => {});
      }
      return rows;
    },
  });
}

/** A statement by POST /sql. */
export function postSql(
  url: string,
  sql: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(`${url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql, ...more }) });
}

/** Its rows. Throws the error that it is answered with. */
export async function rowsOf(url: string, sql: string, more: object = {}): Promise<readonly (readonly unknown[])[]> {
  const answer = await postSql(url, sql, more);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json().dataset as readonly (readonly unknown[])[];
}
