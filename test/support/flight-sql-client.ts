import { bytesField, readFields, varintField } from '@framehold/grpc';
import { type Table, tableFromIPC, tableToIPC } from 'apache-arrow';
import {
  byCommand,
  type FlightAnswer,
  FlightClient,
  type FlightInfo,
  flightDataOf,
  gather,
  ipcOf,
} from './flight-client.ts';

const packageUrl = 'type.googleapis.com/arrow.flight.protocol.sql.';

/** A field of a protobuf message: text, bytes, a number or a boolean under its number in FlightSql.proto. */
export type FieldValue = readonly [number: number, value: string | Uint8Array | number | boolean];

/** The message, with the field numbers written out, so that it shares no definitions with the code under test. */
export function proto(...fields: readonly FieldValue[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) =>
      typeof value === 'string' || value instanceof Uint8Array
        ? bytesField(number, value)
        : varintField(number, Number(value)),
    ),
  );
}

export function any(name: string, ...fields: readonly FieldValue[]): Buffer {
  return proto([1, packageUrl + name], [2, proto(...fields)]);
}

/** The fields of a message by their numbers; the last of repeated ones. */
export function fieldsOf(message: Uint8Array): Map<number, bigint | Buffer> {
  const fields = new Map<number, bigint | Buffer>();
  readFields(message, (number, value) => fields.set(number, typeof value === 'bigint' ? value : Buffer.from(value)));
  return fields;
}

export function bufferAt(fields: Map<number, bigint | Buffer>, number: number): Buffer {
  const value = fields.get(number);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

export interface Prepared {
  readonly handle: Buffer;
  readonly datasetSchema: Buffer;
  readonly parameterSchema: Buffer;
  readonly isUpdate: bigint | undefined;
}

/** Flight SQL as its clients speak it. Every method rejects with the status of an error, under `code` ours. */
export class FlightSqlClient implements Disposable {
  readonly flight: FlightClient;

  constructor(port: number, headers: Readonly<Record<string, string>> = {}) {
    this.flight = new FlightClient(port, headers);
  }

  async info(name: string, ...fields: readonly FieldValue[]): Promise<FlightInfo> {
    return one(await this.flight.info(byCommand(any(name, ...fields))));
  }

  async schema(name: string, ...fields: readonly FieldValue[]): Promise<Buffer> {
    return one(await this.flight.schema(byCommand(any(name, ...fields)))).schema;
  }

  async fetch(info: FlightInfo): Promise<Table> {
    const answer = await this.flight.get(ticketOf(info));
    ended(answer);
    return tableFromIPC(ipcOf(answer.messages));
  }

  async ask(name: string, ...fields: readonly FieldValue[]): Promise<Record<string, unknown>[]> {
    return rowsOf(await this.fetch(await this.info(name, ...fields)));
  }

  query(sql: string, ...fields: readonly FieldValue[]): Promise<Record<string, unknown>[]> {
    return this.ask('CommandStatementQuery', [1, sql], ...fields);
  }

  /** Gives `app_metadata` of the one answer. */
  async put(command: Uint8Array, ipc?: Uint8Array): Promise<Buffer> {
    const call = this.flight.openPut();
    const answer = gather(call);
    const [first, ...rest] = ipc === undefined ? [] : flightDataOf(ipc);
    call.write({ ...first, flightDescriptor: byCommand(command) });
    for (const message of rest) call.write(message);
    call.end();
    return one(await answer).appMetadata;
  }

  /** Gives the number of rows. */
  async update(name: string, fields: readonly FieldValue[], ipc?: Uint8Array): Promise<number> {
    return Number(fieldsOf(await this.put(any(name, ...fields), ipc)).get(1) ?? Number.NaN);
  }

  /** Gives the fields of the result, which is packed. */
  async action(type: string, ...fields: readonly FieldValue[]): Promise<Map<number, bigint | Buffer>> {
    const answer = await this.flight.action(type, any(`Action${type}Request`, ...fields));
    ended(answer);
    const [result] = answer.messages;
    if (result === undefined) return new Map();
    const packed = fieldsOf(result.body);
    if (`${packed.get(1)}` !== `${packageUrl}Action${type}Result`) throw new Error(`${type} gave ${packed.get(1)}`);
    return fieldsOf(bufferAt(packed, 2));
  }

  async prepare(sql: string, ...fields: readonly FieldValue[]): Promise<Prepared> {
    const result = await this.action('CreatePreparedStatement', [1, sql], ...fields);
    const isUpdate = result.get(4);
    return {
      handle: bufferAt(result, 1),
      datasetSchema: bufferAt(result, 2),
      parameterSchema: bufferAt(result, 3),
      isUpdate: typeof isUpdate === 'bigint' ? isUpdate : undefined,
    };
  }

  async bind(handle: Uint8Array, table: Table): Promise<Buffer> {
    const result = await this.put(any('CommandPreparedStatementQuery', [1, handle]), tableToIPC(table, 'stream'));
    return bufferAt(fieldsOf(result), 1);
  }

  execute(handle: Uint8Array): Promise<Record<string, unknown>[]> {
    return this.ask('CommandPreparedStatementQuery', [1, handle]);
  }

  async begin(): Promise<Buffer> {
    return bufferAt(await this.action('BeginTransaction'), 1);
  }

  async end(transaction: Uint8Array, how: 'commit' | 'rollback'): Promise<void> {
    await this.action('EndTransaction', [1, transaction], [2, how === 'commit' ? 1 : 2]);
  }

  [Symbol.dispose](): void {
    this.flight[Symbol.dispose]();
  }
}

export function ticketOf({ endpoint }: FlightInfo): Buffer {
  return endpoint[0]?.ticket.ticket ?? Buffer.alloc(0);
}

export function rowsOf(table: Table): Record<string, unknown>[] {
  return table.toArray().map((row) => row.toJSON());
}

/** Names, types and nullability of an encapsulated schema. */
export function shownSchema(schema: Uint8Array): string[] {
  return tableFromIPC(schema).schema.fields.map(({ name, type, nullable }) => `${name} ${type}${nullable ? '' : '!'}`);
}

function ended({ status, code }: FlightAnswer<unknown>): void {
  if (status.code !== 0) throw Object.assign(new Error(status.details), { status: status.code, code });
}

function one<T>(answer: FlightAnswer<T>): T {
  ended(answer);
  const [only, ...more] = answer.messages;
  if (only === undefined || more.length > 0) throw new Error(`${answer.messages.length} messages instead of one`);
  return only;
}
