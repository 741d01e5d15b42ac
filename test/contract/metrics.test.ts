import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient } from '../support/flight-client.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';

const openMetrics = { accept: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5' };

/** The value of the sample that begins so, with all its labels. */
function sample(text: string, name: string): number | undefined {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

describe('without authentication', () => {
  let server: Framehold;
  beforeAll(async () => {
    server = await startFramehold({ settings: { 'tsdb.http_url': 'http://me:secret@127.0.0.1:1' } });
    await importRaw(server, 'name=hidden_name', 'id\n1\n2\n3\n');
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const metrics = async (): Promise<string> => (await ask(`${server.url}/metrics`)).text;

  test('everybody may read them, in the format that is asked for', async () => {
    const text = await ask(`${server.url}/metrics`);
    expect([text.status, text.headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text.text).toContain('# TYPE framehold_put_rows_total counter\n');
    expect(text.text).not.toContain('# EOF');
    const open = await ask(`${server.url}/metrics`, { headers: openMetrics });
    expect(open.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(open.text).toContain('# TYPE framehold_put_rows counter\n');
    expect(open.text.endsWith('\n# EOF\n')).toBe(true);
    const refused = await ask(`${server.url}/metrics`, { headers: { accept: 'application/openmetrics-text;q=0' } });
    expect(refused.text).not.toContain('# EOF');
    expect((await ask(`${server.url}/metrics?name=up`)).status).toBe(400);
  });

  test('they are compressed for those who take that', async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: { 'accept-encoding': 'gzip' } });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(await response.text()).toContain('framehold_frames 1\n');
  });

  test('requests are counted by route, method and status, until their first and their last byte', async () => {
    const route = 'http_route="/handles/{handle}"';
    const labels = `${route},http_request_method="GET"`;
    const count = `http_server_request_duration_seconds_count{${labels},http_response_status_code="404"}`;
    const before = sample(await metrics(), count) ?? 0;
    await ask(`${server.url}/handles/nothing`);
    await ask(`${server.url}/handles/nothing`);
    await expect.poll(async () => sample(await metrics(), count)).toBe(before + 2);
    const text = await metrics();
    expect(sample(text, `framehold_http_first_byte_seconds_count{${route}}`)).toBeGreaterThanOrEqual(2);
    const bucket = 'http_server_request_duration_seconds_bucket';
    expect(sample(text, `${bucket}{${labels},http_response_status_code="404",le="+Inf"}`)).toBe(before + 2);
  });

  test('an unknown path, an odd method and the files of the console do not make series of their own', async () => {
    await ask(`${server.url}/no/such/path`);
    await ask(`${server.url}/handles`, { method: 'PROPFIND' });
    await ask(`${server.url}/`);
    await expect.poll(metrics).toContain('http_request_method="_OTHER"');
    const text = await metrics();
    expect(text).not.toContain('/no/such/path');
    expect(text).not.toContain('PROPFIND');
  });

  test('requests that were not let in are counted without their route, and as no fault', async () => {
    for (const path of ['/handles', '/sql', '/config']) {
      await ask(`${server.url}${path}`, { headers: { host: 'evil.example' } });
    }
    const refused = /^http_server_request_duration_seconds_count\{http_route="([^"]*)".*status_code="421"\} 3$/m;
    await expect.poll(async () => refused.exec(await metrics())?.[1]).toBe('');
    expect(await metrics()).not.toContain('error_type="wrong_host"');
  });

  test('calls over gRPC, statements and appends are counted with how they ended', async () => {
    const flight = new FlightClient(server.grpcAddress.port);
    await flight.actions();
    flight[Symbol.dispose]();
    await ask(`${server.url}/exec?query=select+1&engine=local&fmt=json`);
    await ask(`${server.url}/exec?query=select+*+from+nowhere&engine=local&fmt=json`);
    await ask(`${server.url}/exec?query=select+1&engine=tsdb&fmt=json`);
    await importRaw(server, 'name=hidden_name&append=true', 'id\n4\n');
    const counted = [
      'rpc_server_call_duration_seconds_count{rpc_method="arrow.flight.protocol.FlightService/ListActions",rpc_system_name="grpc",rpc_response_status_code="OK"}',
      'framehold_statement_duration_seconds_count{engine="local",operation="query",error_type=""}',
      'framehold_statement_duration_seconds_count{engine="local",operation="query",error_type="sql_error"}',
      'framehold_statement_duration_seconds_count{engine="tsdb",operation="forward",error_type="tsdb_unreachable"}',
      'framehold_put_duration_seconds_count{mode="append",error_type=""}',
    ];
    for (const name of counted) {
      await expect.poll(async () => sample(await metrics(), name), { message: name }).toBeGreaterThanOrEqual(1);
    }
    const text = await metrics();
    expect(sample(text, 'framehold_tsdb_down')).toBe(1);
    expect(sample(text, 'framehold_request_faults_total{listener="http",error_type="tsdb_unreachable"}')).toBe(1);
    expect(sample(text, 'framehold_duckdb_worker_exits_total{pool="sql",reason="crashed"}')).toBe(0);
    expect(sample(text, 'framehold_put_rows_total')).toBeGreaterThanOrEqual(4);
    expect(sample(text, 'framehold_duckdb_jobs_total{pool="sql"}')).toBeGreaterThanOrEqual(1);
    expect(sample(text, 'framehold_disk_write_duration_seconds_count{write="log"}')).toBeGreaterThanOrEqual(1);
    expect(sample(text, 'framehold_connections{listener="http"}')).toBeGreaterThanOrEqual(1);
  });

  test('nothing that callers name, write or send is among the labels', async () => {
    const canary = 'canary_7f3a';
    const paths = [
      `/exec?handle=${canary}&fmt=json`,
      `/exec?query=select+'${canary}'&engine=local&fmt=json`,
      `/handles/${canary}`,
      `/${canary}`,
      `/sql?engine=${canary}`,
      `/queries/${canary}`,
    ];
    for (const path of paths) {
      await ask(`${server.url}${path}`, { headers: { 'x-request-id': canary, 'user-agent': canary } });
    }
    const text = await metrics();
    expect(text).not.toContain(canary);
    expect(text).not.toContain('hidden_name');
    expect(text).not.toContain('127.0.0.1');
  });

  test('the server lives and is ready', async () => {
    for (const path of ['/livez', '/readyz', '/ping']) {
      const answer = await ask(`${server.url}${path}`);
      expect([answer.status, answer.text], path).toEqual([200, 'ok']);
    }
    expect(sample(await metrics(), 'framehold_ready')).toBe(1);
  });
});

describe('with authentication', () => {
  let closed: ClosedServer;
  let plain: string;
  beforeAll(async () => {
    const port = await freePort();
    plain = `http://127.0.0.1:${port}`;
    closed = await startClosedServer({ settings: { 'metrics.bind_address': `127.0.0.1:${port}` } });
    await closed.as(closed.token('writer'), 'POST', '/imp?name=trades', 'a\n1\n');
  });
  afterAll(() => closed[Symbol.asyncDispose]());

  test('an operator is told what each tenant holds, and may hold', async () => {
    const limits = { max_frames: 7, max_bytes: 1_000_000 };
    const set = await closed.as(closed.token('operator'), 'PATCH', '/tenants/other', JSON.stringify(limits));
    expect(set.status, set.text).toBe(200);
    const { text } = await closed.as(closed.token('operator'), 'GET', '/metrics');
    expect(sample(text, 'framehold_tenant_frames{tenant="default"}')).toBe(1);
    expect(sample(text, 'framehold_tenant_frames_limit{tenant="other"}')).toBe(7);
    expect(sample(text, 'framehold_tenant_bytes_limit{tenant="other"}')).toBe(1_000_000);
    expect(sample(text, 'framehold_tenant_frames_limit{tenant="default"}')).toBeUndefined();
  });

  test('on their own address they are open, without tenants, and nothing else is there', async () => {
    const { status, text } = await ask(`${plain}/metrics`, { headers: { host: 'framehold-7.pods.example' } });
    expect(status).toBe(200);
    expect(sample(text, 'framehold_frames')).toBe(1);
    expect(text).not.toContain('tenant=');
    for (const path of ['/ping', '/livez', '/readyz']) expect((await ask(`${plain}${path}`)).status, path).toBe(200);
    for (const path of ['/handles', '/stats', '/config', '/']) {
      expect((await ask(`${plain}${path}`)).status, path).toBe(404);
    }
  });
});
