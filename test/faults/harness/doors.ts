import { status } from '@grpc/grpc-js';
import { Int64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { byPath } from '../../support/flight-client.ts';
import { type FieldValue, FlightSqlClient, proto } from '../../support/flight-sql-client.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import type { Content, Operation, Outcome, Verb } from './ledger.ts';
import { rowsWritten, type WriteNumber, writesIn } from './written-rows.ts';

/** Where a server is reached. */
export interface Address {
  readonly url: string;
  readonly grpcPort: number;
}

interface DoorFacts {
  readonly verbs: readonly Verb[];
  write(to: Address, operation: Operation): Promise<Outcome>;
}

const allPuts = ['create', 'overwrite', 'append'] as const;

/** Every way to write a frame and to drop one, as clients have it. */
export const doors = {
  impCsv: { verbs: allPuts, write: impCsv },
  impJson: { verbs: allPuts, write: impJson },
  doPut: { verbs: allPuts, write: doPut },
  ingest: { verbs: allPuts, write: ingest },
  keep: { verbs: allPuts, write: keep },
  createTableAs: { verbs: ['create', 'overwrite'], write: createTableAs },
  insertInto: { verbs: ['append'], write: insertInto },
  delete: { verbs: ['drop'], write: remove },
  dropAction: { verbs: ['drop'], write: dropAction },
  dropTable: { verbs: ['drop'], write: dropTable },
} as const satisfies Record<string, DoorFacts>;

export type Door = keyof typeof doors;

export function doorsFor(verb: Verb): Door[] {
  return (Object.keys(doors) as Door[]).filter((door) => (doors[door].verbs as readonly Verb[]).includes(verb));
}

export function write(to: Address, door: Door, operation: Operation): Promise<Outcome> {
  return doors[door].write(to, operation);
}

/** What the server shows under a handle. Throws where it shows what was never written, or an error. */
export async function contentOf({ url }: Pick<Address, 'url'>, handle: string): Promise<Content> {
  const answer = await ask(`${url}/exec?handle=${handle}&fmt=json&limit=1,`);
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.status !== 200) throw new Error(`${handle} cannot be read: ${answer.text}`);
  return writesIn(answer.json().dataset as unknown[][]);
}

function impCsv(to: Address, { handle, verb, n }: Operation): Promise<Outcome> {
  const lines = rowsWritten(n).map((row) => `${row.n},${row.i},${row.text}\n`);
  return imp(to, handle, verb, 'csv', `n,i,text\n${lines.join('')}`);
}

function impJson(to: Address, { handle, verb, n }: Operation): Promise<Outcome> {
  const lines = rowsWritten(n).map((row) => `${JSON.stringify(row)}\n`);
  return imp(to, handle, verb, 'ndjson', lines.join(''));
}

function imp({ url }: Address, handle: string, verb: Verb, format: string, body: string): Promise<Outcome> {
  const mode = verb === 'create' ? '' : `&${verb}=true`;
  return outcomeOf(ask(`${url}/imp?name=${handle}&fmt=json&format=${format}${mode}`, { method: 'POST', body }));
}

async function doPut({ grpcPort }: Address, { handle, verb, n }: Operation): Promise<Outcome> {
  using client = new FlightSqlClient(grpcPort);
  const answer = await client.flight.put(byPath(handle), arrowOf(n), { appMetadata: { mode: verb } });
  return grpcOutcome(answer.status.code, answer.code);
}

/** if_not_exist (CREATE 1, FAIL 2) and if_exists (FAIL 1, APPEND 2, REPLACE 3). */
const ingestModes = { create: [1, 1], append: [1, 2], overwrite: [1, 3], drop: [0, 0] } as const;

function ingest(to: Address, { handle, verb, n }: Operation): Promise<Outcome> {
  const [absent, present] = ingestModes[verb];
  const definition: FieldValue = [1, proto([1, absent], [2, present])];
  return overFlightSql(to, (client) => client.update('CommandStatementIngest', [definition, [2, handle]], arrowOf(n)));
}

function keep({ url }: Address, { handle, verb, n }: Operation): Promise<Outcome> {
  const body = JSON.stringify({ sql: `select * from ${valuesOf(n)}`, keep: { handle, mode: verb } });
  return outcomeOf(ask(`${url}/sql`, { method: 'POST', body }));
}

function createTableAs(to: Address, { handle, verb, n }: Operation): Promise<Outcome> {
  const create = verb === 'overwrite' ? 'create or replace table' : 'create table';
  return update(to, `${create} ${handle} as select * from ${valuesOf(n)}`);
}

function insertInto(to: Address, { handle, n }: Operation): Promise<Outcome> {
  return update(to, `insert into ${handle} select * from ${valuesOf(n)}`);
}

function remove({ url }: Address, { handle }: Operation): Promise<Outcome> {
  return outcomeOf(ask(`${url}/handles/${handle}`, { method: 'DELETE' }));
}

async function dropAction({ grpcPort }: Address, { handle }: Operation): Promise<Outcome> {
  using client = new FlightSqlClient(grpcPort);
  const answer = await client.flight.action('framehold.drop', handle);
  return grpcOutcome(answer.status.code, answer.code);
}

function dropTable(to: Address, { handle }: Operation): Promise<Outcome> {
  return update(to, `drop table ${handle}`);
}

function update(to: Address, sql: string): Promise<Outcome> {
  return overFlightSql(to, (client) => client.update('CommandStatementUpdate', [[1, sql]]));
}

async function overFlightSql(
  { grpcPort }: Address,
  task: (client: FlightSqlClient) => Promise<unknown>,
): Promise<Outcome> {
  using client = new FlightSqlClient(grpcPort);
  try {
    await task(client);
    return 'acknowledged';
  } catch (error) {
    const { status: code, code: ours } = error as { status?: number; code?: string };
    if (code === undefined) throw error;
    return grpcOutcome(code, ours);
  }
}

function valuesOf(n: WriteNumber): string {
  const rows = rowsWritten(n).map((row) => `(${row.n}::bigint, ${row.i}::bigint, '${row.text}')`);
  return `(values ${rows.join(', ')}) v(n, i, text)`;
}

function arrowOf(n: WriteNumber): Uint8Array {
  const rows = rowsWritten(n);
  const long = (values: readonly number[]) => vectorFromArray(values.map(BigInt), new Int64());
  const table = new Table({
    n: long(rows.map((row) => row.n)),
    i: long(rows.map((row) => row.i)),
    text: vectorFromArray(
      rows.map((row) => row.text),
      new Utf8(),
    ),
  });
  return tableToIPC(table, 'stream');
}

/** After these a write may have reached the disk, although it was not acknowledged. */
const uncertain: ReadonlySet<unknown> = new Set(['internal', 'storage_read_only', undefined]);

export async function outcomeOf(answer: Promise<Pick<Answer, 'status' | 'text'>>): Promise<Outcome> {
  try {
    const { status: httpStatus, text } = await answer;
    if (httpStatus < 300) return 'acknowledged';
    const { code } = JSON.parse(text) as { code?: string };
    return uncertain.has(code) ? 'unknown' : 'refused';
  } catch (error) {
    return (error as { code?: string }).code === 'ECONNREFUSED' ? 'refused' : 'unknown';
  }
}

export function grpcOutcome(code: number, ours: string | undefined): Outcome {
  if (code === status.OK) return 'acknowledged';
  return uncertain.has(ours) ? 'unknown' : 'refused';
}
