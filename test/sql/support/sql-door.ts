import { tableFromIPC } from 'apache-arrow';
import type { FlightSqlClient } from '../../support/flight-sql-client.ts';
import type { Framehold } from '../../support/framehold.ts';
import { ask } from '../../support/http-client.ts';
import { arrowText } from './arrow-text.ts';
import type { Engine } from './test-file.ts';

/** Where the statements of a file are sent. */
export interface SqlDoor {
  readonly engine: Engine;
  readonly takesParameters: boolean;
  /** A statement whose rows do not matter. */
  run(sql: string, parameters: readonly unknown[]): Promise<void>;
  /** The cells of all rows, as DuckDB writes them. */
  query(sql: string, parameters: readonly unknown[]): Promise<string[][]>;
}

/** The engine answered that it does not run the statement. */
export class Refused extends Error {}

/** `POST /sql`. Sent to another engine are only queries: frames are made by the local one. */
export function httpDoor(
  server: Pick<Framehold, 'url'>,
  { headers = {}, cluster }: { headers?: Readonly<Record<string, string>>; cluster?: Engine } = {},
): SqlDoor {
  const post = async (command: object): Promise<Buffer> => {
    const answer = await ask(`${server.url}/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(command),
    });
    if (answer.status >= 500) throw new Error(`${JSON.stringify(command)} answers ${answer.status}: ${answer.text}`);
    if (answer.status !== 200) throw new Refused(`${answer.json().error}`);
    return answer.body;
  };
  const withParameters = (parameters: readonly unknown[]) => (parameters.length === 0 ? {} : { params: parameters });
  const engine = cluster === undefined ? {} : { engine: 'cluster' };
  return {
    engine: cluster ?? 'framehold',
    takesParameters: true,
    run: async (sql, parameters) => {
      await post({ sql, ...withParameters(parameters) });
    },
    query: async (sql, parameters) =>
      arrowText(tableFromIPC(await post({ sql, ...withParameters(parameters), format: 'arrow', ...engine }))),
  };
}

const changes = /^\s*(CREATE|INSERT|DROP|UPDATE|DELETE|MERGE|ALTER|TRUNCATE)\b/i;

export function flightSqlDoor(client: FlightSqlClient): SqlDoor {
  const told = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      const { status, code } = error as { status?: number; code?: string };
      if (status === undefined || code === undefined) throw error;
      throw new Refused((error as Error).message);
    }
  };
  const query: SqlDoor['query'] = async (sql) =>
    arrowText(await told(client.info('CommandStatementQuery', [1, sql]).then((info) => client.fetch(info))));
  return {
    engine: 'framehold',
    takesParameters: false,
    run: async (sql, parameters) => {
      if (changes.test(sql)) await told(client.update('CommandStatementUpdate', [[1, sql]]));
      else await query(sql, parameters);
    },
    query,
  };
}
