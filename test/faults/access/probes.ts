import type { Metadata } from '@grpc/grpc-js';
import { byCommand, byPath, type FlightAnswer } from '../../support/flight-client.ts';
import { any, type FlightSqlClient, proto } from '../../support/flight-sql-client.ts';
import type { Connection, ConnectionRequest, Reply } from '../load/connection.ts';

/** What the names of a probe name. */
export type Subject = 'frame' | 'tenant' | 'token' | 'prepared statement' | 'transaction';

/** A caller that asks for what it does not have. */
export interface Prober {
  readonly http: Connection;
  readonly flightSql: FlightSqlClient;
  readonly headers: { readonly authorization: string };
  /** A tenant that has frames, and a frame of the prober's own. */
  readonly otherTenant: string;
  readonly ownFrame: string;
}

export interface Probe {
  readonly subject: Subject;
  /** Gives all of the answer that does not differ between any two requests, with `NAME` for the name. */
  ask(prober: Prober, name: string): Promise<string>;
}

/** Every way to ask for something by its name. None of them changes what the next one is told. */
export const probes: Readonly<Record<string, Probe>> = {
  'GET /exec': get('frame', ({ name }) => `/exec?handle=${name}&fmt=json`),
  'GET /exec of another tenant': get('frame', ({ name, tenant }) => `/exec?handle=${tenant}/${name}&fmt=json`),
  'GET /exp': get('frame', ({ name }) => `/exp?handle=${name}`),
  'GET /handles/{handle}': get('frame', ({ name }) => `/handles/${name}`),
  'GET /handles/{handle} of another tenant': get('frame', ({ name, tenant }) => `/handles/${tenant}%2F${name}`),
  'GET /handles?prefix': get('frame', ({ name }) => `/handles?prefix=${name}`),
  'DELETE /handles/{handle}': http('frame', 'DELETE', ({ name }) => `/handles/${name}`),
  'DELETE /handles/{handle} of another tenant': http(
    'frame',
    'DELETE',
    ({ name, tenant }) => `/handles/${tenant}%2F${name}`,
  ),
  'GET /handles/{handle}/rows': get('frame', ({ name }) => `/handles/${name}/rows?live=long-poll&wait=0s`),
  'GET /handles/{handle}/rows of another tenant': get(
    'frame',
    ({ name, tenant }) => `/handles/${tenant}%2F${name}/rows?live=sse`,
  ),
  'GET /handles/{handle}/profile': get('frame', ({ name }) => `/handles/${name}/profile?column=a`),
  'GET /handles/{handle}/profile of another tenant': get(
    'frame',
    ({ name, tenant }) => `/handles/${tenant}%2F${name}/profile?column=a`,
  ),
  'POST /plot': http(
    'frame',
    'POST',
    () => '/plot',
    ({ name }) => `{"handle":"${name}","y":"a"}`,
  ),
  'POST /plot of another tenant': http(
    'frame',
    'POST',
    () => '/plot',
    ({ name, tenant }) => `{"handle":"${tenant}/${name}","y":"a"}`,
  ),
  'POST /tickets, and the link that it is for': byTicket(({ name }) => `/exp?handle=${name}`),
  'POST /handles/{handle}/flush': http('frame', 'POST', ({ name }) => `/handles/${name}/flush`),
  'POST /handles/{handle}/renew': http('frame', 'POST', ({ name }) => `/handles/${name}/renew`),
  'GET /handles/{handle}/shares': get('frame', ({ name }) => `/handles/${name}/shares`),
  'PUT /handles/{handle}/shares/{tenant}': http(
    'frame',
    'PUT',
    ({ name, tenant }) => `/handles/${name}/shares/${tenant}`,
  ),
  'select over HTTP': sql(({ name }) => `select * from ${name}`),
  'select of another tenant over HTTP': sql(({ name, tenant }) => `select * from ${tenant}.${name}`),
  'a name that is nearly right': sql(({ name }) => `select * from ${name}x`),
  'insert over HTTP': sql(({ name }) => `insert into ${name} values (1)`),
  'drop over HTTP': sql(({ name }) => `drop table ${name}`),
  DoGet: flight('frame', ({ flight }, name) => flight.get(name)),
  'DoGet with follow': flight('frame', ({ flight }, name) => flight.get(`{"handle":"${name}","follow":true}`)),
  'DoGet of another tenant': flight('frame', ({ flight }, name, tenant) => flight.get(`${tenant}/${name}`)),
  GetFlightInfo: flight('frame', ({ flight }, name) => flight.info(byPath(name))),
  'GetFlightInfo of another tenant': flight('frame', ({ flight }, name, tenant) => flight.info(byPath(tenant, name))),
  GetSchema: flight('frame', ({ flight }, name) => flight.schema(byPath(name))),
  'framehold.drop': flight('frame', ({ flight }, name) => flight.action('framehold.drop', name)),
  'framehold.renew': flight('frame', ({ flight }, name) => flight.action('framehold.renew', `{"handle":"${name}"}`)),
  'select over Flight SQL': flight('frame', ({ flight }, name) =>
    flight.info(byCommand(any('CommandStatementQuery', [1, `select * from ${name}`]))),
  ),
  GetTables: flight('frame', async ({ flight }, name) => flight.get(any('CommandGetTables', [3, name]))),
  'a share with a tenant': http('tenant', 'PUT', ({ name, frame }) => `/handles/${frame}/shares/${name}`),
  'a frame of a tenant': get('tenant', ({ name }) => `/exec?handle=${name}/nothing&fmt=json`),
  'a schema of a tenant': sql(({ name }) => `select * from ${name}.nothing`, 'tenant'),
  'X-Framehold-Tenant': asTenant('/handles'),
  'a token of a tenant': http(
    'tenant',
    'POST',
    () => '/tokens',
    ({ name }) => `{"name":"x","role":"read","tenant":"${name}"}`,
  ),
  'GET /tenants': get('tenant', ({ name }) => `/tenants?name=${name}`),
  'DELETE /tenants/{name}': http('tenant', 'DELETE', ({ name }) => `/tenants/${name}`),
  'DELETE /tokens/{id}': http('token', 'DELETE', ({ name }) => `/tokens/${name}`),
  'POST /tokens/{id}/rotate': http('token', 'POST', ({ name }) => `/tokens/${name}/rotate`),
  'a prepared statement': flight('prepared statement', ({ flight }, name) =>
    flight.info(byCommand(any('CommandPreparedStatementQuery', [1, bytes(name)]))),
  ),
  'a transaction': flight('transaction', ({ flight }, name) =>
    flight.action('EndTransaction', any('ActionEndTransactionRequest', [1, bytes(name)], [2, 1])),
  ),
  'a renewed endpoint': flight('frame', ({ flight }, name) =>
    flight.action('RenewFlightEndpoint', proto([1, proto([1, proto([1, name])])])),
  ),
};

interface Names {
  readonly name: string;
  /** Another one, and a frame of the prober's own. */
  readonly tenant: string;
  readonly frame: string;
}

type Text = (names: Names) => string;

function http(subject: Subject, method: string, target: Text, body?: Text): Probe {
  return {
    subject,
    ask: (prober, name) => {
      const names = { name, tenant: prober.otherTenant, frame: prober.ownFrame };
      return asked(prober, name, target(names), { method, ...(body !== undefined && { body: body(names) }) });
    },
  };
}

function get(subject: Subject, target: Text): Probe {
  return http(subject, 'GET', target);
}

function sql(statement: Text, subject: Subject = 'frame'): Probe {
  return http(
    subject,
    'POST',
    () => '/sql',
    (names) => JSON.stringify({ sql: statement(names) }),
  );
}

function byTicket(target: Text): Probe {
  return {
    subject: 'frame',
    ask: async ({ http, headers, otherTenant, ownFrame }, name) => {
      const path = target({ name, tenant: otherTenant, frame: ownFrame });
      const made = await http.ask('/tickets', { method: 'POST', body: JSON.stringify({ path }), headers });
      if (made.status !== 200) return bareReply(made, name);
      const { ticket } = JSON.parse(made.text) as { ticket: string };
      return bareReply(await http.ask(`${path}&ticket=${ticket}`), name);
    },
  };
}

function asTenant(target: string): Probe {
  return {
    subject: 'tenant',
    ask: (prober, name) => asked(prober, name, target, { headers: { 'x-framehold-tenant': name } }),
  };
}

async function asked(prober: Prober, name: string, target: string, request: ConnectionRequest): Promise<string> {
  const headers = { ...request.headers, ...prober.headers };
  return bareReply(await prober.http.ask(target, { ...request, headers }), name);
}

function flight(
  subject: Subject,
  call: (client: FlightSqlClient, name: string, tenant: string) => Promise<FlightAnswer<unknown>>,
): Probe {
  return {
    subject,
    ask: async ({ flightSql, otherTenant }, name) => bareAnswer(await call(flightSql, name, otherTenant), name),
  };
}

export function bareReply({ status, headers, text }: Reply, name: string): string {
  const { date: _, 'x-request-id': id, ...others } = headers;
  return bare([status, others, text], name, String(id));
}

function bareAnswer({ status, headers, messages }: FlightAnswer<unknown>, name: string): string {
  const trailers = status.metadata;
  const id = trailers.get('x-request-id')[0]?.toString();
  return bare([status.code, status.details, shown(headers), shown(trailers), messages], name, id);
}

function shown(metadata: Metadata): Record<string, unknown> {
  const { date: _, 'x-request-id': __, ...others } = metadata.getMap();
  return others;
}

function bare(answer: unknown, name: string, requestId: string | undefined): string {
  const text = JSON.stringify(answer, (_, value: unknown) => {
    const isBytes = typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
    return isBytes && 'data' in value ? Buffer.from(value.data as number[]).toString('latin1') : value;
  });
  const anonymous = requestId === undefined ? text : text.replaceAll(requestId, 'ID');
  return anonymous.replaceAll(name, 'NAME');
}

/** Names of the subjects that are bytes are hexadecimal. */
function bytes(name: string): Buffer {
  return Buffer.from(name, 'hex');
}
