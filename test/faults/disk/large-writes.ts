import { status } from '@grpc/grpc-js';
import { Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { byPath } from '../../support/flight-client.ts';
import { type FieldValue, FlightSqlClient, proto } from '../../support/flight-sql-client.ts';
import { type Answer, ask } from '../../support/http-client.ts';
import type { Address } from '../harness/doors.ts';

/** How a write ended: 'kept', or the code and the status of its refusal. */
export type Ending = 'kept' | { readonly code: string | undefined; readonly status: number };

/** A write of text that does not compress, as large as is wanted, so that a disk can run full at any point of it. */
export interface LargeWrite {
  readonly handle: string;
  /** As text, since handles and SQL of the harness are. */
  readonly rows: readonly string[];
}

/** Every way in, with the code of a refusal. All of them make a frame of one column `text`. */
export const largeWrites = {
  impCsv: ({ url }, { handle, rows }) => imp(`${url}/imp?name=${handle}&format=csv`, `text\n${rows.join('\n')}\n`),
  impForm: ({ url }, { handle, rows }) => {
    const head = '--edge\r\ncontent-disposition: form-data; name="data"; filename="f.csv"\r\n\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=edge' };
    return imp(`${url}/imp?name=${handle}&fmt=json`, `${head}text\n${rows.join('\n')}\r\n--edge--\r\n`, headers);
  },
  impNdjson: ({ url }, { handle, rows }) =>
    imp(`${url}/imp?name=${handle}&format=ndjson`, rows.map((text) => `${JSON.stringify({ text })}\n`).join('')),
  impArrow: ({ url }, { handle, rows }) => imp(`${url}/imp?name=${handle}&format=arrow`, arrowOf(rows)),
  doPut: async ({ grpcPort }, { handle, rows }) => {
    using client = new FlightSqlClient(grpcPort);
    const answer = await client.flight.put(byPath(handle), arrowOf(rows));
    return answer.status.code === status.OK ? 'kept' : { code: answer.code, status: answer.status.code };
  },
  ingest: (to, { handle, rows }) => {
    const createOnly: FieldValue = [1, proto([1, 1], [2, 1])];
    return overFlightSql(to, (client) =>
      client.update('CommandStatementIngest', [createOnly, [2, handle]], arrowOf(rows)),
    );
  },
  keep: ({ url }, { handle, rows }) =>
    imp(`${url}/sql`, JSON.stringify({ sql: `select text from ${generated(rows.length)}`, keep: { handle } })),
  createTableAs: (to, { handle, rows }) =>
    overFlightSql(to, (client) =>
      client.update('CommandStatementUpdate', [[1, `create table ${handle} as from ${generated(rows.length)}`]]),
    ),
} as const satisfies Record<string, (to: Address, write: LargeWrite) => Promise<Ending>>;

export const largeWriteDoors = Object.keys(largeWrites) as (keyof typeof largeWrites)[];

/** What a full disk is called over HTTP and over gRPC. */
export const fullStatuses: readonly number[] = [507, status.RESOURCE_EXHAUSTED];

/** What one that cannot be written is called. */
export const readOnlyStatuses: readonly number[] = [503, status.FAILED_PRECONDITION];

/** The rows as the engine makes them: they need not be sent, and still do not compress. */
function generated(rows: number): string {
  return `(select md5(range::varchar) || md5((-range)::varchar) as text from range(${rows}))`;
}

function arrowOf(rows: readonly string[]): Uint8Array {
  return tableToIPC(new Table({ text: vectorFromArray(rows, new Utf8()) }), 'stream');
}

async function imp(url: string, body: string | Uint8Array, headers = {}): Promise<Ending> {
  return endingOf(await ask(url, { method: 'POST', body, headers }));
}

export function endingOf(answer: Answer): Ending {
  if (answer.status < 300) return 'kept';
  return { code: answer.json().code as string | undefined, status: answer.status };
}

async function overFlightSql(
  { grpcPort }: Address,
  task: (client: FlightSqlClient) => Promise<unknown>,
): Promise<Ending> {
  using client = new FlightSqlClient(grpcPort);
  try {
    await task(client);
    return 'kept';
  } catch (error) {
    const { status: code, code: ours } = error as { status?: number; code?: string };
    if (code === undefined) throw error;
    return { code: ours, status: code };
  }
}
