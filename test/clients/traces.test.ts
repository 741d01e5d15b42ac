import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { startFramehold } from '../support/framehold.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';
import { needed } from '../support/missing.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { python } from './support/python.ts';

const interpreter = await needed('a receiver of traces', python);

function newTrace(flags = '01'): { readonly traceId: string; readonly spanId: string; readonly traceparent: string } {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

describe.skipIf(interpreter === undefined)('requests that are traced', () => {
  let receiver: OtlpReceiver;
  beforeAll(async () => {
    receiver = await startOtlpReceiver(interpreter ?? '');
  });
  afterAll(() => receiver[Symbol.asyncDispose]());

  const settings = () => ({
    'otel.endpoint': receiver.url,
    'otel.headers': 'authorization=Bearer%20of-collector',
    'otel.resource_attributes': 'deployment.environment.name=test',
  });
  const spansOf = (traceId: string): ReceivedSpan[] => receiver.spans.filter((span) => span.traceId === traceId);
  const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
    const span = spans.find((each) => each.name === name);
    if (span === undefined) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join(', ')}`);
    return span;
  };

  test('are parts of their callers’ traces, with what was done for them', async () => {
    const [http, put, flight] = [newTrace(), newTrace(), newTrace()];
    {
      await using server = await startFramehold({ settings: settings() });
      await importRaw(server, 'name=trades', 'a\n1\n2\n', { traceparent: put.traceparent });
      const query = 'select+count(*)+from+trades';
      const answer = await ask(`${server.url}/exec?query=${query}&engine=local&fmt=json`, {
        headers: { traceparent: http.traceparent, 'x-request-id': 'my-request' },
      });
      expect(answer.status, answer.text).toBe(200);
      using client = new FlightSqlClient(server.grpcAddress.port, { traceparent: flight.traceparent });
      await client.query('select 1');
    }
    // The stop of the server has sent what was left.
    const spans = spansOf(http.traceId);
    const request = named(spans, 'GET /exec');
    expect(request).toMatchObject({
      parentSpanId: http.spanId,
      kind: 2,
      status: 0,
      authorization: 'Bearer of-collector',
      resource: { 'service.name': 'framehold', 'deployment.environment.name': 'test' },
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/exec',
        'http.response.status_code': '200',
        'framehold.request_id': 'my-request',
      },
    });
    const statement = named(spans, 'query local');
    expect(statement.parentSpanId).toBe(request.spanId);
    for (const name of ['queue', 'worker']) {
      const part = spans.find((span) => span.name === name && span.parentSpanId === statement.spanId);
      expect(part, name).toBeDefined();
      expect(part?.start).toBeGreaterThanOrEqual(request.start);
      expect(part?.end).toBeLessThanOrEqual(request.end);
    }
    const parts = spansOf(put.traceId);
    expect(named(parts, 'put').parentSpanId).toBe(named(parts, 'POST /imp').spanId);
    expect(named(parts, 'commit').parentSpanId).toBe(named(parts, 'put').spanId);
    expect(named(parts, 'worker').parentSpanId).toBe(named(parts, 'put').spanId);
    const calls = spansOf(flight.traceId);
    const call = named(calls, 'arrow.flight.protocol.FlightService/DoGet');
    expect(call).toMatchObject({ kind: 2, attributes: { 'rpc.response.status_code': 'OK' } });
    expect(JSON.stringify(receiver.spans)).not.toContain('count(*)');
  });

  test('an append waits for the disk in a span of its own', async () => {
    const trace = newTrace();
    {
      await using server = await startFramehold({ settings: settings() });
      await importRaw(server, 'name=ticks', 'a\n1\n');
      await importRaw(server, 'name=ticks&append=true', 'a\n2\n', { traceparent: trace.traceparent });
    }
    const spans = spansOf(trace.traceId);
    expect(named(spans, 'fsync').parentSpanId).toBe(named(spans, 'put').spanId);
  });

  test('a failure is told with its code, and its log line has the trace and the request', async () => {
    const trace = newTrace();
    let log: string;
    {
      await using server = await startFramehold({
        settings: { ...settings(), 'tsdb.http_url': 'http://127.0.0.1:1' },
      });
      await ask(`${server.url}/exec?query=select+1&engine=tsdb&fmt=json`, {
        headers: { traceparent: trace.traceparent, 'x-request-id': 'failing' },
      });
      log = server.log();
    }
    expect(named(spansOf(trace.traceId), 'GET /exec')).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'tsdb_unreachable' },
    });
    const line = log.split('\n').find((each) => each.includes('request failed'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ requestId: 'failing', traceId: trace.traceId });
  });

  test('callers who decided against it are not traced, nor are probes', async () => {
    const trace = newTrace('00');
    const before = receiver.spans.length;
    {
      await using server = await startFramehold({ settings: settings() });
      const headers = { traceparent: trace.traceparent };
      await ask(`${server.url}/handles`, { headers });
      for (const path of ['/ping', '/livez', '/readyz', '/metrics']) await ask(`${server.url}${path}`);
    }
    expect(receiver.spans.slice(before)).toEqual([]);
  });

  test.each([
    ['parentbased_always_off', undefined, 0],
    ['always_off', '01', 0],
    ['always_on', '00', 1],
    ['parentbased_traceidratio', undefined, 1],
  ])('the sampler %s with flags %s of the caller', async (sampler, flags, expected) => {
    const before = receiver.spans.length;
    {
      await using server = await startFramehold({ settings: { ...settings(), 'otel.sampler': sampler } });
      const headers: Record<string, string> = flags === undefined ? {} : { traceparent: newTrace(flags).traceparent };
      await ask(`${server.url}/handles`, { headers });
    }
    expect(receiver.spans.slice(before).filter(({ name }) => name === 'GET /handles')).toHaveLength(expected);
  });

  test('the newest trace of a bucket is its exemplar, in OpenMetrics alone', async () => {
    await using server = await startFramehold({ settings: settings() });
    const trace = newTrace();
    await ask(`${server.url}/handles`, { headers: { traceparent: trace.traceparent } });
    const metrics = (accept: string) => ask(`${server.url}/metrics`, { headers: { accept } });
    const exemplar = new RegExp(
      `^http_server_request_duration_seconds_bucket\\{http_route="/handles".* # \\{trace_id="${trace.traceId}"\\} [\\d.e-]+ [\\d.]+$`,
      'm',
    );
    await expect.poll(async () => (await metrics('application/openmetrics-text')).text).toMatch(exemplar);
    expect((await metrics('text/plain')).text).not.toContain('trace_id');
  });

  test.each([
    ['refuses them', 400],
    ['is overloaded', 503],
    ['is not there', undefined],
  ])('a collector that %s holds up nobody, and what is lost is counted', async (_, status) => {
    await using refusing = status === undefined ? undefined : await startOtlpReceiver(interpreter ?? '', { status });
    const url = refusing?.url ?? `http://127.0.0.1:${await freePort()}`;
    const server = await startFramehold({ settings: { 'otel.endpoint': url, 'server.shutdown_grace': '1s' } });
    for (let n = 0; n < 3000; n += 100) {
      await Promise.all(Array.from({ length: 100 }, () => ask(`${server.url}/handles`)));
    }
    const dropped = async (): Promise<number> =>
      Number(/^framehold_trace_spans_dropped_total (\d+)$/m.exec((await ask(`${server.url}/metrics`)).text)?.[1]);
    await expect.poll(dropped).toBeGreaterThan(0);
    expect(server.log()).toContain('the collector of traces');
    const begunMs = performance.now();
    await server[Symbol.asyncDispose]();
    expect(performance.now() - begunMs).toBeLessThan(5000);
  });
});
