import { type Answer, ask } from '../../support/http-client.ts';
import type { Address } from './doors.ts';
import { promised } from './scenario.ts';

/** How a statement that changes a frame ended, where the server may die, or others change the same frame. */
export type SqlChange = 'acknowledged' | 'refused' | 'unanswered';

/** Sends a statement, and expects it to be refused only because another change came between. */
export async function changeBySql(to: Pick<Address, 'url'>, sql: string): Promise<SqlChange> {
  // The connection breaks with the server.
  const answer = await postSql(to, sql).catch(() => undefined);
  if (answer === undefined) return 'unanswered';
  if (answer.status === 200) return 'acknowledged';
  promised([409, 503].includes(answer.status), 'a change is refused only where another came between', answer.text);
  return 'refused';
}

/** The rows of a statement that reads. */
export async function rowsBySql<Row extends readonly unknown[]>(to: Pick<Address, 'url'>, sql: string): Promise<Row[]> {
  const answer = await postSql(to, sql);
  promised(answer.status === 200, `${sql} can be answered`, answer.text);
  return answer.json().dataset as Row[];
}

export async function postSql({ url }: Pick<Address, 'url'>, sql: string): Promise<Answer> {
  return await ask(`${url}/sql`, { method: 'POST', body: JSON.stringify({ sql }) });
}
