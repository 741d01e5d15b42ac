import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Statement } from '../../src/core/sql/sql.ts';
import {
  type CallerName,
  type ClosedServer,
  callers,
  isUnknown,
  mayFrom,
  startClosedServer,
} from '../support/closed-server.ts';
import {
  byCommand,
  byPath,
  type FlightAnswer,
  type FlightClient,
  flightMethods,
  gather,
} from '../support/flight-client.ts';
import { any, type FieldValue, FlightSqlClient, proto } from '../support/flight-sql-client.ts';

let closed: ClosedServer;
const clients = new Map<CallerName, FlightSqlClient>();
const rows = tableToIPC(tableFromArrays({ a: [1] }), 'stream');

beforeAll(async () => {
  closed = await startClosedServer();
  for (const caller of callers) {
    clients.set(caller, new FlightSqlClient(closed.server.grpcAddress.port, closed.headers(caller)));
  }
  await closed.as(closed.token('writer'), 'POST', '/imp?name=trades', 'price,symbol\n1,A\n2,B\n');
});

afterAll(async () => {
  for (const client of clients.values()) client[Symbol.dispose]();
  await closed[Symbol.asyncDispose]();
});

interface Rule {
  /** The least caller that may. */
  readonly least: CallerName;
  /** Where it changes something, it is refused for another reason. */
  run(flight: FlightClient): Promise<FlightAnswer<unknown>>;
}

const prepared = [1, Buffer.from('none')] as const;
const info = (name: string, ...fields: FieldValue[]): Rule => ({
  least: 'reader',
  run: (flight) => flight.info(byCommand(any(name, ...fields))),
});
const put =
  (name: string, ...fields: FieldValue[]): Rule['run'] =>
  async (flight) => {
    return flight.put(byCommand(any(name, ...fields)), rows);
  };
const action = (least: CallerName, type: string, body: Uint8Array | string): Rule => ({
  least,
  run: (flight) => flight.action(type, body),
});

const rpcs: Readonly<Record<string, Rule>> = {
  Handshake: {
    least: 'reader',
    run: (flight) => {
      const call = flight.handshake({});
      const answer = gather(call);
      call.end();
      return answer;
    },
  },
  ListFlights: { least: 'reader', run: (flight) => flight.list() },
  GetFlightInfo: { least: 'reader', run: (flight) => flight.info(byPath('trades')) },
  PollFlightInfo: { least: 'reader', run: (flight) => flight.poll(byPath('trades')) },
  GetSchema: { least: 'reader', run: (flight) => flight.schema(byPath('trades')) },
  DoGet: { least: 'reader', run: (flight) => flight.get('trades') },
  DoPut: {
    least: 'writer',
    run: (flight) => flight.put(byCommand({ handle: 'trades', mode: 'create' }), rows),
  },
  DoExchange: { least: 'reader', run: (flight) => flight.exchange() },
  DoAction: { least: 'reader', run: (flight) => flight.action('none') },
  ListActions: { least: 'reader', run: (flight) => flight.actions() },
};

const actions: Readonly<Record<string, Rule>> = {
  'framehold.drop': action('writer', 'framehold.drop', '{"handle":"none"}'),
  'framehold.renew': action('writer', 'framehold.renew', '{"handle":"none"}'),
  RenewFlightEndpoint: action('writer', 'RenewFlightEndpoint', proto([1, proto([1, proto([1, 'none'])])])),
  CancelFlightInfo: action('reader', 'CancelFlightInfo', ''),
  SetSessionOptions: action('reader', 'SetSessionOptions', ''),
  GetSessionOptions: action('reader', 'GetSessionOptions', ''),
  CloseSession: action('reader', 'CloseSession', ''),
  CreatePreparedStatement: action(
    'reader',
    'CreatePreparedStatement',
    any('ActionCreatePreparedStatementRequest', [1, 'select 1']),
  ),
  ClosePreparedStatement: action(
    'reader',
    'ClosePreparedStatement',
    any('ActionClosePreparedStatementRequest', prepared),
  ),
  BeginTransaction: action('reader', 'BeginTransaction', any('ActionBeginTransactionRequest')),
  EndTransaction: action('reader', 'EndTransaction', any('ActionEndTransactionRequest', prepared, [2, 1])),
  CancelQuery: action('reader', 'CancelQuery', any('ActionCancelQueryRequest')),
};

const commands: Readonly<Record<string, Rule>> = {
  CommandGetCatalogs: info('CommandGetCatalogs'),
  CommandGetDbSchemas: info('CommandGetDbSchemas'),
  CommandGetTables: info('CommandGetTables'),
  CommandGetTableTypes: info('CommandGetTableTypes'),
  CommandGetSqlInfo: info('CommandGetSqlInfo'),
  CommandGetXdbcTypeInfo: info('CommandGetXdbcTypeInfo'),
  CommandGetPrimaryKeys: info('CommandGetPrimaryKeys', [3, 'trades']),
  CommandGetExportedKeys: info('CommandGetExportedKeys', [3, 'trades']),
  CommandGetImportedKeys: info('CommandGetImportedKeys', [3, 'trades']),
  CommandGetCrossReference: info('CommandGetCrossReference', [3, 'trades'], [6, 'trades']),
  CommandStatementQuery: info('CommandStatementQuery', [1, 'select 1']),
  CommandPreparedStatementQuery: info('CommandPreparedStatementQuery', prepared),
  CommandStatementUpdate: { least: 'writer', run: put('CommandStatementUpdate', [1, 'drop table none']) },
  CommandPreparedStatementUpdate: { least: 'reader', run: put('CommandPreparedStatementUpdate', prepared) },
  CommandStatementIngest: {
    least: 'writer',
    run: put('CommandStatementIngest', [2, 'none'], [1, proto([1, 2], [2, 1])]),
  },
};

/** Every kind of statement; those that change something do so to nothing. */
const statements: Readonly<Record<Statement['kind'], { readonly least: CallerName; readonly sql: string }>> = {
  query: { least: 'reader', sql: 'select 1' },
  showTables: { least: 'reader', sql: 'show tables' },
  createTable: { least: 'writer', sql: 'create table if not exists trades as select 1 a' },
  createView: { least: 'writer', sql: 'create or replace view seen as select 1 a' },
  define: { least: 'writer', sql: 'create macro if not exists twice(a) as a + a' },
  undefine: { least: 'writer', sql: 'drop macro if exists none' },
  insert: { least: 'writer', sql: 'insert into none select 1' },
  change: { least: 'writer', sql: 'delete from none where true' },
  truncate: { least: 'writer', sql: 'truncate none' },
  drop: { least: 'writer', sql: 'drop table none' },
  alter: { least: 'writer', sql: 'alter table if exists none rename to other' },
};

function expectAnswer({ least }: Pick<Rule, 'least'>, caller: CallerName, code: number): void {
  if (isUnknown(caller)) expect(code).toBe(status.UNAUTHENTICATED);
  else if (!mayFrom(least, caller)) expect(code).toBe(status.PERMISSION_DENIED);
  else expect([status.UNAUTHENTICATED, status.PERMISSION_DENIED]).not.toContain(code);
}

describe.each([...Object.entries(rpcs), ...Object.entries(actions), ...Object.entries(commands)])('%s', (_, rule) => {
  test.each(callers)(`as %s is served from ${rule.least} on`, async (caller) => {
    const { flight } = clients.get(caller) as FlightSqlClient;
    expectAnswer(rule, caller, (await rule.run(flight)).status.code);
  });
});

describe.each(Object.entries(statements))('a statement of the kind %s', (_, rule) => {
  test.each(callers)(`as %s runs from ${rule.least} on`, async (caller) => {
    const { status: code, json } = await closed.as(
      closed.token(caller),
      'POST',
      '/sql',
      JSON.stringify({ sql: rule.sql }),
    );
    if (isUnknown(caller)) expect(code).toBe(401);
    else if (!mayFrom(rule.least, caller)) expect([code, json().code]).toEqual([403, 'forbidden']);
    else expect([401, 403]).not.toContain(code);
  });
});

test('every RPC, action and command has a rule', async () => {
  expect(Object.keys(rpcs).sort()).toEqual([...flightMethods].sort());
  const { messages } = await (clients.get('operator') as FlightSqlClient).flight.actions();
  expect(Object.keys(actions).sort()).toEqual(messages.map(({ type }) => type).sort());
  expect(Object.keys(commands).sort()).toEqual(commandsInCode());
});

/** Names of commands that the code of Flight SQL knows. */
function commandsInCode(): string[] {
  const folder = fileURLToPath(new URL('../../src/flight/sql/', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  );
  const names = files.flatMap(
    (name) => readFileSync(`${folder}${name}`, 'utf8').match(/'?Command[A-Z]\w+'?(?=[':])/g) ?? [],
  );
  return [...new Set(names.map((name) => name.replaceAll("'", '')))].sort();
}
