import { urlOf } from './http-get.ts';
import type { HttpServer } from './server-process.ts';

/** The answer of `POST /sql` with rows, and of a statement that changes some. */
export interface SqlAnswer {
  readonly dataset?: readonly (readonly unknown[])[];
  readonly updated?: number;
}

/** On the local engine. Anything but a success rejects. */
export async function postSql(server: HttpServer, sql: string): Promise<SqlAnswer> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ sql, engine: 'local' });
  const response = await fetch(urlOf(server, '/sql'), { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`${sql}: ${text.slice(0, 300)}`);
  return JSON.parse(text) as SqlAnswer;
}
