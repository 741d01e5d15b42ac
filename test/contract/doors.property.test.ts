import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataType, sqlTypeName } from '@framehold/columns';
import { grpcStatus } from '@framehold/grpc';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../src/core/errors/app-error.ts';
import { errorStatus } from '../../src/grpc/error-status.ts';
import { httpStatus } from '../../src/http/exchange/error-response.ts';
import { arrowFile, arrowMessages, arrowStream } from '../support/arbitrary-arrow.ts';
import { type ArbitraryTable, anyTable, tableInCsv, tableInJson } from '../support/arbitrary-table.ts';
import { text } from '../support/arbitrary-values.ts';
import { arrowContents } from '../support/arrow-values.ts';
import { byPath, FlightClient, ipcOf } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { importForm, importRaw } from '../support/import-client.ts';

let server: Framehold;
let flight: FlightClient;
beforeAll(async () => {
  server = await startFramehold({ settings: { 'logging.level': 'warn' } });
  flight = new FlightClient(server.grpcAddress.port);
});
afterAll(async () => {
  flight[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

/** The same tables each time: a new seed finds new things, but not while others wait for CI. */
const seed = 20261115;
/** A slow machine tries fewer; a failure has time to be made small. */
const someTables = { seed, numRuns: 8, interruptAfterTimeLimit: 60_000 };
const timeout = 120_000;

let made = 0;
const newHandle = (): string => `t${++made}`;

function expectOk(answer: Answer): Answer {
  expect(answer.status, answer.text.slice(0, 2000)).toBe(200);
  return answer;
}

async function imp(parameters: string, body: string | Uint8Array): Promise<string> {
  const handle = newHandle();
  expectOk(await importRaw(server, `name=${handle}&${parameters}`, body));
  return handle;
}

async function exp(handle: string, parameters: string): Promise<Buffer> {
  return expectOk(await ask(`${server.url}/exp?handle=${handle}&${parameters}`)).body;
}

function sql(body: object): Promise<Answer> {
  return ask(`${server.url}/sql`, { method: 'POST', body: JSON.stringify(body) });
}

const arrowDoors = {
  async 'Flight DoPut'(messages: readonly Uint8Array[]) {
    const handle = newHandle();
    const { status } = await flight.put(byPath(handle), arrowStream(messages));
    expect(status.code, status.details).toBe(0);
    return handle;
  },
  'an Arrow stream to /imp': (messages: readonly Uint8Array[]) => imp('', arrowStream(messages)),
  'an Arrow file to /imp': async (messages: readonly Uint8Array[]) => imp('', await arrowFile(messages)),
} as const;
const arrowDoor = fc.constantFrom(...(Object.keys(arrowDoors) as (keyof typeof arrowDoors)[]));

/** That an Arrow stream of ours is the table as frames keep it. */
function expectKept(stream: Uint8Array, { kept }: ArbitraryTable): void {
  const { schema, rows } = arrowContents(stream, kept.columns);
  expect(schema.fields.map(({ name, metadata }) => [name, metadata.get('ARROW:FLIGHT:SQL:TYPE_NAME')])).toEqual(
    kept.columns.map(({ name, type }) => [name, sqlTypeName(type)]),
  );
  expect(rows).toEqual(kept.rows);
}

/** The rows of a JSON answer, digit by digit. */
function datasetOf(json: string): string {
  return json.slice(json.indexOf('"dataset":['), json.lastIndexOf('"count":'));
}

async function expectSameJson(handle: string, { kept }: ArbitraryTable): Promise<void> {
  const exec = expectOk(await ask(`${server.url}/exec?handle=${handle}&fmt=json`));
  expect((exec.json().columns as { name: string }[]).map(({ name }) => name)).toEqual(
    kept.columns.map(({ name }) => name),
  );
  expect(datasetOf((await exp(handle, 'fmt=json')).toString())).toBe(datasetOf(exec.text));
  expect(datasetOf(expectOk(await sql({ sql: `select * from ${handle}` })).text)).toBe(datasetOf(exec.text));
  const lines = (await exp(handle, 'fmt=ndjson')).toString().split('\n').slice(0, -1);
  const dataset = exec.json().dataset as unknown[][];
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    dataset.map((row) => Object.fromEntries(kept.columns.map(({ name, type }, i) => [name, inLine(row[i], type)]))),
  );
}

/** A value of /exec as NDJSON has it: a date without a time of day, a timestamp without a zone without `Z`. */
function inLine(value: unknown, type: DataType): unknown {
  if (value === null) return null;
  const object = value as Record<string, unknown>;
  const entries = (of: (name: string) => DataType): unknown =>
    Object.fromEntries(Object.entries(object).map(([name, each]) => [name, inLine(each, of(name))]));
  switch (type.kind) {
    case 'date':
      return String(value).replace(/T00:00:00\.000Z$/, '');
    case 'timestamp':
      return type.zoned ? value : String(value).replace(/Z$/, '');
    case 'list':
    case 'array':
      return (value as unknown[]).map((each) => inLine(each, type.element));
    case 'struct':
      if (Array.isArray(value)) return value.map((each, i) => inLine(each, type.fields[i]?.type ?? { kind: 'null' }));
      return entries((name) => type.fields.findLast((field) => field.name === name)?.type ?? { kind: 'null' });
    case 'map':
      if (!Array.isArray(value)) return entries(() => type.value);
      return value.map((each) => ({ key: inLine(each.key, type.key), value: inLine(each.value, type.value) }));
    default:
      return value;
  }
}

describe('any table', () => {
  test('comes out of every door as it went in by Arrow', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(anyTable, arrowDoor, fc.integer({ min: 1, max: 50 }), async (table, door, batchRows) => {
        const handle = await arrowDoors[door](arrowMessages(table.columns, table.rows, batchRows));
        const { status, messages } = await flight.get(handle);
        expect(status.code, status.details).toBe(0);
        expectKept(ipcOf(messages), table);
        expectKept(await exp(handle, 'fmt=arrow'), table);
        await expectSameJson(handle, table);
      }),
      someTables,
    );
  });

  test('that is exported as Arrow or Parquet, or kept by SQL, is the same again', { timeout }, async () => {
    // Inside other values a uuid goes out as text, and comes back as such.
    const table = anyTable.filter(({ columns }) => !columns.some(({ type }) => holdsUuid(type)));
    await fc.assert(
      fc.asyncProperty(table, arrowDoor, async (table, door) => {
        const handle = await arrowDoors[door](arrowMessages(table.columns, table.rows));
        expectKept(await exp(await imp('', await exp(handle, 'fmt=arrow')), 'fmt=arrow'), table);
        expectKept(await exp(await imp('', await exp(handle, 'fmt=parquet')), 'fmt=arrow'), table);
        const anew = await exp(handle, 'fmt=parquet&compression_codec=gzip');
        expectKept(await exp(await imp('', anew), 'fmt=arrow'), table);
        const kept = newHandle();
        expectOk(await sql({ sql: `select * from ${handle}`, keep: { handle: kept } }));
        const [before, after] = [await exp(handle, 'fmt=json'), await exp(kept, 'fmt=json')];
        expect(datasetOf(after.toString())).toBe(datasetOf(before.toString()));
      }),
      someTables,
    );
  });

  test('that is exported as CSV and appended to its like is the same again', { timeout }, async () => {
    const delimiters = fc.constantFrom('delimiter=,', 'delimiter=;', 'delimiter=|', 'delimiter=%09', 'delimiter=:');
    await fc.assert(
      fc.asyncProperty(tableInCsv, delimiters, async (table, delimiter) => {
        const handle = await imp('', arrowStream(arrowMessages(table.columns, table.rows)));
        const csv = await exp(handle, `fmt=csv&${delimiter}`);
        const like = await imp('', arrowStream(arrowMessages(table.columns, [])));
        const parameters = `name=${like}&append=true&format=csv&forceHeader=true&${delimiter}`;
        expectOk(await importRaw(server, parameters, csv));
        expectKept(await exp(like, 'fmt=arrow'), table);
      }),
      someTables,
    );
  });

  test('that is exported as NDJSON and appended to its like is the same again', { timeout }, async () => {
    await fc.assert(
      // An empty body is refused, though no rows are what an empty frame gives.
      fc.asyncProperty(
        tableInJson.filter(({ rows }) => rows.length > 0),
        async (table) => {
          const handle = await imp('', arrowStream(arrowMessages(table.columns, table.rows)));
          const like = await imp('', arrowStream(arrowMessages(table.columns, [])));
          const ndjson = await exp(handle, 'fmt=ndjson');
          expectOk(await importRaw(server, `name=${like}&append=true&format=ndjson`, ndjson));
          expect(datasetOf((await exp(like, 'fmt=json')).toString())).toBe(
            datasetOf((await exp(handle, 'fmt=json')).toString()),
          );
        },
      ),
      someTables,
    );
  });

  test('of plain types comes back from CSV and NDJSON with a schema', { timeout }, async () => {
    const table = tableInCsv.filter(
      ({ columns, rows, kept }) =>
        rows.length > 0 &&
        kept.columns.every(({ type }) => canBeNamed(type)) &&
        new Set(columns.map(({ name }) => name)).size === columns.length,
    );
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom('csv' as const, 'tsv' as const, 'ndjson' as const),
        async (table, format) => {
          const handle = await imp('', arrowStream(arrowMessages(table.columns, table.rows)));
          const bytes = await exp(handle, `fmt=${format}`);
          const schema = JSON.stringify(
            table.kept.columns.map(({ name, type }) => ({ name, type: sqlTypeName(type) })),
          );
          const back = newHandle();
          const hints = { csv: '&forceHeader=true&delimiter=,', tsv: '&forceHeader=true', ndjson: '' }[format];
          const parameters = `name=${back}&format=${format}&fmt=json${hints}`;
          expectOk(await importForm(server, parameters, { schema, data: { bytes, fileName: 'table' } }));
          if (format !== 'ndjson') expectKept(await exp(back, 'fmt=arrow'), table);
          expect(datasetOf((await exp(back, 'fmt=json')).toString())).toBe(
            datasetOf((await exp(handle, 'fmt=json')).toString()),
          );
        },
      ),
      someTables,
    );
  });
});

function holdsUuid(type: DataType): boolean {
  return type.kind !== 'uuid' && JSON.stringify(type).includes('{"kind":"uuid"}');
}

function canBeNamed({ kind }: DataType): boolean {
  return !['binary', 'interval', 'list', 'array', 'struct', 'map', 'union'].includes(kind);
}

interface Refusal {
  readonly code: unknown;
  /** Of HTTP, or the number of the gRPC status. */
  readonly status: number;
}

function refusalOf(answer: Answer): Refusal {
  return { code: answer.json().code, status: answer.status };
}

/** That all refuse for the same reason, each in the terms of its door. Gives the reason. */
function expectSameCode(http: readonly Refusal[], grpc: readonly Refusal[]): ErrorCode {
  const code = http[0]?.code as ErrorCode;
  const refusal = { code, status: httpStatus[code] };
  expect(http).toEqual(http.map(() => refusal));
  const rpcRefusal = { code, status: grpcStatus[errorStatus[code]] };
  expect(grpc).toEqual(grpc.map(() => rpcRefusal));
  return code;
}

async function refusedReads(handle: string): Promise<ErrorCode> {
  const name = encodeURIComponent(handle);
  const http = [
    await ask(`${server.url}/exec?handle=${name}&fmt=json`),
    await ask(`${server.url}/exp?handle=${name}`),
    await ask(`${server.url}/exp?handle=${name}&fmt=parquet`),
  ].map(refusalOf);
  const grpc = [
    await flight.get(JSON.stringify({ handle })),
    await flight.info(byPath(handle)),
    await flight.schema(byPath(handle)),
  ].map(({ code, status }) => ({ code, status: status.code }));
  return expectSameCode(http, grpc);
}

describe('both doors refuse with the same code', () => {
  test('to read what never was, or cannot be', async () => {
    // An empty handle is none to Flight. A byte order mark in front of one is dropped there.
    const handleLike = text.filter((handle) => /^[^\ufeff]/.test(handle));
    await fc.assert(
      fc.asyncProperty(fc.oneof(handleLike, fc.stringMatching(/^[\w.-]{1,130}$/)), async (handle) => {
        const isHandle = /^[A-Za-z0-9_][\w.-]{0,127}$/.test(handle);
        expect(await refusedReads(handle)).toBe(isHandle ? 'handle_not_found' : 'invalid_handle');
      }),
      { seed, numRuns: 25 },
    );
  });

  test('to read what is gone', async () => {
    await putSql(server.frames, 'dropped', 'SELECT 1 AS a');
    expect((await ask(`${server.url}/handles/dropped`, { method: 'DELETE' })).status).toBe(200);
    expect(await refusedReads('dropped')).toBe('handle_gone');
  });

  test('to read what is damaged', async () => {
    await writeFile(join(server.dataDir, 'cold', 'damaged.parquet'), 'not Parquet');
    await expect
      .poll(async () => (await ask(`${server.url}/exp?handle=damaged`)).json().code, { timeout: 10_000 })
      .toBe('frame_damaged');
    expect(await refusedReads('damaged')).toBe('frame_damaged');
  });

  const one = [{ name: 'a', type: { kind: 'utf8' } as const }];
  const two = [...one, { name: 'b', type: { kind: 'boolean' } as const }];
  const interval = [{ name: 'a', type: { kind: 'interval' } as const }];
  const puts: Readonly<Record<string, readonly [ErrorCode, 'create' | 'append', string, Uint8Array]>> = {
    'under a taken handle': ['handle_exists', 'create', 'taken', arrowStream(arrowMessages(one, []))],
    'what does not fit': ['schema_mismatch', 'append', 'taken', arrowStream(arrowMessages(two, []))],
    'what a frame cannot hold': [
      'unsupported_type',
      'create',
      'new',
      arrowStream(arrowMessages(interval, [[[0, 0, -1n]]])),
    ],
    'under what is no handle': ['invalid_handle', 'create', '.x', arrowStream(arrowMessages(one, []))],
  };
  test.each(Object.entries(puts))('to put %s', async (_, [code, mode, handle, stream]) => {
    await putSql(server.frames, 'taken', 'SELECT 1 AS a', { mode: 'overwrite' });
    const http = await importRaw(server, `name=${handle}${mode === 'append' ? '&append=true' : ''}`, stream);
    const rpc = await flight.put(byPath(handle), stream, { appMetadata: { mode } });
    expect(expectSameCode([refusalOf(http)], [{ code: rpc.code, status: rpc.status.code }])).toBe(code);
  });
});
