import { request } from 'node:http';
import { byCommand, type FlightAnswer } from '../../support/flight-client.ts';
import { any, FlightSqlClient, ticketOf } from '../../support/flight-sql-client.ts';
import type { Address } from '../harness/doors.ts';
import type { Random } from '../harness/random.ts';

/** What a client was told, in whatever form. */
export interface SqlAnswer {
  /** Ours where it is an error; `cut` where the answer broke off; `left` where it was more than the client wanted. */
  readonly code: string | undefined;
  /** All text that came, headers and trailers included. */
  readonly text: string;
  /** The longest that one call of it took. */
  readonly ms: number;
}

interface DoorFacts {
  readonly mayWrite: boolean;
  ask(to: Address, sql: string, random: Random): Promise<SqlAnswer>;
}

/** Every way in for SQL. */
export const sqlDoors = {
  exec: { mayWrite: false, ask: (to, sql) => get(to, `/exec?fmt=json&engine=local&limit=1,&query=${encoded(sql)}`) },
  exp: {
    mayWrite: false,
    ask: (to, sql, random) =>
      get(to, `/exp?engine=local&${new URLSearchParams(formatOf('fmt', random))}&query=${encoded(sql)}`),
  },
  ticket: { mayWrite: false, ask: askTicket },
  post: {
    mayWrite: true,
    ask: (to, sql, random) => post(to, { sql, ...formatOf('format', random), ...parametersFor(sql) }),
  },
  keep: {
    mayWrite: true,
    ask: (to, sql) => post(to, { sql, keep: { handle: 'kept', mode: 'overwrite' }, ...parametersFor(sql) }),
  },
  query: { mayWrite: true, ask: askQuery },
  update: { mayWrite: true, ask: askUpdate },
  prepare: { mayWrite: true, ask: askPrepared },
} as const satisfies Record<string, DoorFacts>;

export type SqlDoor = keyof typeof sqlDoors;

const formats = ['csv', 'json', 'ndjson', 'arrow', 'parquet'] as const;
/** What a client of ours takes of an answer before it leaves. */
const mostBytes = 4_000_000;

/** Packed, a secret would not be seen. */
function formatOf(key: string, random: Random): Record<string, string> {
  const format = random.pick(formats);
  return { [key]: format, ...(format === 'parquet' && { compression_codec: 'uncompressed' }) };
}

export function askSql(to: Address, door: SqlDoor, sql: string, random: Random): Promise<SqlAnswer> {
  return sqlDoors[door].ask(to, sql, random);
}

/** A lone surrogate cannot stand in a URL; what other clients would send for it is sent. */
function encoded(sql: string): string {
  return encodeURIComponent(Buffer.from(sql).toString());
}

function parametersFor(sql: string): object {
  if (/\$name/.test(sql)) return { params: { name: 'trades' } };
  const count = /\$3/.test(sql) ? 3 : (sql.match(/\?/g) ?? []).length || (/\$1\b/.test(sql) ? 1 : 0);
  return count === 0 || /['"]/.test(sql) ? {} : { params: Array.from({ length: count }, (_, n) => n) };
}

function get(to: Address, target: string): Promise<SqlAnswer> {
  return overHttp(`${to.url}${target}`, 'GET');
}

function post(to: Address, body: object): Promise<SqlAnswer> {
  return overHttp(`${to.url}/sql`, 'POST', JSON.stringify(body));
}

function overHttp(url: string, method: string, body?: string): Promise<SqlAnswer> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const outgoing = request(url, { agent: false, method }, (incoming) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      const end = (code: string | undefined): void => {
        const shown = Buffer.concat(pieces).toString('latin1');
        const ours = incoming.statusCode === 200 ? code : (codeIn(shown) ?? `status ${incoming.statusCode}`);
        const text = `${JSON.stringify(incoming.headers)}\n${Buffer.concat(pieces).toString()}`;
        resolve({ code: ours, text, ms: performance.now() - startedAt });
      };
      incoming.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes <= mostBytes) return;
        end('left');
        outgoing.destroy();
      });
      incoming.on('error', () => end('cut'));
      incoming.on('end', () => end(undefined));
    });
    outgoing.on('error', (error) =>
      resolve({ code: 'no answer', text: String(error), ms: performance.now() - startedAt }),
    );
    outgoing.end(body);
  });
}

function codeIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { code?: string }).code;
  } catch {
    return undefined;
  }
}

async function askTicket(to: Address, sql: string, random: Random): Promise<SqlAnswer> {
  using client = new FlightSqlClient(to.grpcPort);
  return await taken(client, random.chance(0.5) ? sql : JSON.stringify({ sql }));
}

async function askQuery(to: Address, sql: string): Promise<SqlAnswer> {
  using client = new FlightSqlClient(to.grpcPort);
  const [answer, info] = await timed(() => client.flight.info(byCommand(any('CommandStatementQuery', [1, sql]))));
  const [message] = info.messages;
  if (message === undefined) return answer;
  return longer(answer, await taken(client, ticketOf(message)));
}

async function askUpdate(to: Address, sql: string): Promise<SqlAnswer> {
  using client = new FlightSqlClient(to.grpcPort);
  return await told(() => client.update('CommandStatementUpdate', [[1, sql]]));
}

async function askPrepared(to: Address, sql: string): Promise<SqlAnswer> {
  using client = new FlightSqlClient(to.grpcPort);
  let handle: Buffer = Buffer.alloc(0);
  let isUpdate = false;
  const prepared = await told(async () => {
    const statement = await client.prepare(sql);
    ({ handle } = statement);
    isUpdate = statement.isUpdate === 1n;
    return [statement.datasetSchema.toString(), statement.parameterSchema.toString()].join('\n');
  });
  if (handle.length === 0) return prepared;
  if (isUpdate)
    return longer(prepared, await told(() => client.update('CommandPreparedStatementUpdate', [[1, handle]])));
  const command = byCommand(any('CommandPreparedStatementQuery', [1, handle]));
  const [answer, info] = await timed(() => client.flight.info(command));
  const [message] = info.messages;
  const ran = message === undefined ? answer : longer(answer, await taken(client, ticketOf(message)));
  return longer(prepared, ran);
}

/** What a ticket gives, or its beginning. */
async function taken(client: FlightSqlClient, ticket: string | Buffer): Promise<SqlAnswer> {
  const startedAt = performance.now();
  const call = client.flight.openGet(ticket);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  return await new Promise((resolve) => {
    call.on('data', ({ dataBody, dataHeader }: { dataBody: Uint8Array; dataHeader: Uint8Array }) => {
      pieces.push(dataHeader, dataBody);
      bytes += dataBody.length;
      if (bytes > mostBytes) call.cancel();
    });
    call.on('status', (status) => {
      const failed = status.code === 0 ? undefined : (codeOf(status.metadata) ?? `status ${status.code}`);
      const text = `${Buffer.concat(pieces).toString()}\n${trailersOf(status)}`;
      resolve({ code: bytes > mostBytes ? 'left' : failed, text, ms: performance.now() - startedAt });
    });
  });
}

async function timed<T>(call: () => Promise<FlightAnswer<T>>): Promise<[SqlAnswer, FlightAnswer<T>]> {
  const startedAt = performance.now();
  const answer = await call();
  const ms = performance.now() - startedAt;
  const { status, messages } = answer;
  const code = status.code === 0 ? undefined : (answer.code ?? `status ${status.code}`);
  const shown = messages.map((message) => shownBytes(message)).join('\n');
  return [{ code, text: `${shown}\n${trailersOf(status)}`, ms }, answer];
}

async function told(act: () => Promise<unknown>): Promise<SqlAnswer> {
  const startedAt = performance.now();
  const ended = (code: string | undefined, text: string): SqlAnswer => ({
    code,
    text,
    ms: performance.now() - startedAt,
  });
  try {
    return ended(undefined, String(await act()));
  } catch (error) {
    const { status, code, message } = error as { status?: number; code?: string; message: string };
    return ended(code ?? `status ${status}`, message);
  }
}

function longer(one: SqlAnswer, next: SqlAnswer): SqlAnswer {
  return { code: next.code, text: `${one.text}\n${next.text}`, ms: Math.max(one.ms, next.ms) };
}

function codeOf(metadata: { get(name: string): readonly unknown[] }): string | undefined {
  return metadata.get('framehold-code')[0]?.toString();
}

function trailersOf({ details, metadata }: { details: string; metadata: { getMap(): object } }): string {
  return `${details}\n${JSON.stringify(metadata.getMap())}`;
}

/** The text of all bytes and strings in a message. */
function shownBytes(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.values(value).map(shownBytes).join('\n');
}
