import { type Answer, ask } from './http-client.ts';

/** One statement to `POST /sql`, by a server's address. */
export function postSql(url: string, sql: string): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return ask(`${url}/sql`, { method: 'POST', headers, body: JSON.stringify({ sql }) });
}
