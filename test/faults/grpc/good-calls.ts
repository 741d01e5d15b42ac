import { Float64, Int64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { flightDataOf } from '../../support/flight-client.ts';
import { any, type FieldValue, FlightSqlClient, proto, ticketOf } from '../../support/flight-sql-client.ts';

/** A call as it is when nobody meddles with it. */
export interface GoodCall {
  readonly path: string;
  readonly messages: readonly Buffer[];
}

const flight = (method: string): string => `/arrow.flight.protocol.FlightService/${method}`;
export const doPutPath = flight('DoPut');

/** Of some numbers and texts; also the parameters of a statement that takes three. */
export const smallTable = new Table({
  a: vectorFromArray([1n, 2n, 3n], new Int64()),
  b: vectorFromArray(['one', null, 'three'], new Utf8()),
  c: vectorFromArray([0.5, 1.5, null], new Float64()),
});

/** Every method, action and command, with handles, tickets and transactions that the server has just given. */
export async function goodCalls(port: number): Promise<GoodCall[]> {
  using client = new FlightSqlClient(port);
  const query = "select * from victim where b <> 'x'";
  const info = await client.info('CommandStatementQuery', [1, query]);
  const cancelled = await client.info('CommandStatementQuery', [1, query]);
  const unbound = await client.prepare(query);
  const bound = await client.prepare('select ?::bigint + 1 as a, ? as b, ?::double as c');
  await client.bind(bound.handle, smallTable);
  const boundInfo = await client.info('CommandPreparedStatementQuery', [1, bound.handle]);
  const change = await client.prepare('insert into written values (?, ?, ?)');
  const transaction = await client.begin();
  const ending = await client.begin();

  const call = (method: string, ...messages: readonly Buffer[]): GoodCall => ({ path: flight(method), messages });
  const action = (type: string, body: Uint8Array | string): GoodCall => call('DoAction', proto([1, type], [2, body]));
  const sqlAction = (type: string, ...fields: readonly FieldValue[]): GoodCall =>
    action(type, any(`Action${type}Request`, ...fields));
  const byPath = (...parts: readonly string[]): Buffer => proto([1, 1], ...parts.map((part): FieldValue => [3, part]));
  const byCommand = (command: Uint8Array | string): Buffer => proto([1, 2], [2, command]);
  const upload = (descriptor: Buffer, metadata = ''): GoodCall => {
    const [first, ...rest] = flightDataOf(tableToIPC(smallTable, 'stream'));
    const begin: FieldValue[] = metadata === '' ? [] : [[3, metadata]];
    return call(
      'DoPut',
      proto([1, descriptor], [2, first?.dataHeader ?? ''], ...begin),
      ...rest.map(({ dataHeader, dataBody }) => proto([2, dataHeader], [1000, dataBody])),
    );
  };
  const commands = [
    any('CommandStatementQuery', [1, query]),
    any('CommandStatementQuery', [1, 'select 1 as one'], [2, transaction]),
    any('CommandPreparedStatementQuery', [1, unbound.handle]),
    any('CommandPreparedStatementQuery', [1, bound.handle]),
    any('CommandGetCatalogs'),
    any('CommandGetDbSchemas', [1, 'framehold'], [2, 'f%']),
    any('CommandGetTables', [1, 'framehold'], [3, 'vic%'], [4, 'TABLE'], [5, true]),
    any('CommandGetTableTypes'),
    any('CommandGetSqlInfo', [1, 0], [1, 500]),
    any('CommandGetXdbcTypeInfo', [1, 4]),
    any('CommandGetPrimaryKeys', [3, 'victim']),
    any('CommandGetImportedKeys', [3, 'victim']),
    any('CommandGetExportedKeys', [3, 'victim']),
    any('CommandGetCrossReference', [3, 'victim'], [6, 'victim']),
  ];
  const descriptors = [
    byPath('victim'),
    byPath('frames', 'victim'),
    byCommand('{"handle":"victim","columns":["a","b"],"from":0,"to":2}'),
    byCommand('select a, b from victim'),
    ...commands.map(byCommand),
  ];
  const ticket = ticketOf(info);
  const flightInfo = proto([2, byPath('victim')], [3, proto([1, proto([1, ticketOf(cancelled)])])], [4, 3]);
  const option = (name: string, value: Buffer): Buffer => proto([1, name], [2, value]);

  return [
    call('Handshake', proto([1, 1], [2, proto([2, 'user'], [3, 'password'])])),
    call('ListFlights', proto([1, 'vic'])),
    call('ListActions', Buffer.alloc(0)),
    call('PollFlightInfo', byPath('victim')),
    call('DoExchange', proto([1, byPath('victim')])),
    ...descriptors.flatMap((descriptor) => [call('GetFlightInfo', descriptor), call('GetSchema', descriptor)]),
    ...[
      'victim',
      'frames/victim',
      '{"handle":"victim","columns":["a"],"from":1}',
      '{"sql":"select 1"}',
      'select 2 as b',
    ]
      .map((text): Buffer => Buffer.from(text))
      .concat(ticket, ticketOf(boundInfo), commands)
      .map((bytes) => call('DoGet', proto([1, bytes]))),
    upload(byPath('written'), '{"mode":"overwrite"}'),
    upload(byPath('written'), '{"mode":"append","ttl":"15m"}'),
    upload(byCommand('{"handle":"written","mode":"overwrite"}')),
    upload(byCommand(any('CommandStatementIngest', [1, proto([1, 1], [2, 3])], [2, 'ingested'], [6, transaction]))),
    upload(byCommand(any('CommandPreparedStatementQuery', [1, bound.handle]))),
    upload(byCommand(any('CommandPreparedStatementUpdate', [1, change.handle]))),
    call(
      'DoPut',
      proto([1, byCommand(any('CommandStatementUpdate', [1, 'create or replace table made as select 1 as a']))]),
    ),
    sqlAction('CreatePreparedStatement', [1, query], [2, transaction]),
    sqlAction('ClosePreparedStatement', [1, 'a handle of no statement']),
    sqlAction('BeginTransaction'),
    sqlAction('EndTransaction', [1, ending], [2, 2]),
    sqlAction('CancelQuery', [1, flightInfo]),
    action('CancelFlightInfo', proto([1, flightInfo])),
    action('RenewFlightEndpoint', proto([1, proto([1, proto([1, 'victim'])])])),
    action('framehold.drop', '{"handle":"made","version":1}'),
    action('framehold.renew', '{"handle":"victim","ttl":"1h"}'),
    action(
      'SetSessionOptions',
      proto([1, option('catalog', proto([1, 'framehold']))], [1, option('x', proto([2, 1]))]),
    ),
    action('GetSessionOptions', ''),
    action('CloseSession', ''),
    { path: '/grpc.health.v1.Health/Check', messages: [proto([1, 'arrow.flight.protocol.FlightService'])] },
    { path: '/grpc.health.v1.Health/List', messages: [Buffer.alloc(0)] },
  ];
}
