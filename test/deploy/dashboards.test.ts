import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { metricTable } from '../../src/server/metric-table.ts';
import { python } from '../clients/support/python.ts';
import { type ClosedServer, startClosedServer } from '../support/closed-server.ts';
import { FlightClient } from '../support/flight-client.ts';
import { eventually } from '../support/frame-store.ts';
import { ask } from '../support/http-client.ts';
import { needed } from '../support/missing.ts';
import { tenantCaller } from '../support/tenants.ts';
import { type Prometheus, prometheusFolder, promtool, startPrometheus } from './prometheus.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const files = readdirSync(join(deploy, 'grafana')).filter((name) => name.endsWith('.json'));
const dashboards = files.map((name) => {
  const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana', name), 'utf8')) as Dashboard;
  return { name, dashboard };
});

const queries = dashboards.flatMap(({ name, dashboard }) =>
  dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name, title, expr }))),
);

/** As Grafana would ask, over all servers and a short time. */
function asAsked(expression: string): string {
  return expression.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '20s');
}

const folder = await needed('Prometheus', prometheusFolder);

describe.skipIf(folder === undefined)('a server under load, scraped by Prometheus', () => {
  let closed: ClosedServer;
  let prometheus: Prometheus;
  let load: NodeJS.Timeout;
  const headers = (): Record<string, string> => closed.headers('operator');
  const metrics = (more: Record<string, string> = {}) =>
    ask(`${closed.server.url}/metrics`, { headers: { ...headers(), ...more } });

  beforeAll(async () => {
    closed = await startClosedServer({ settings: { 'tsdb.http_url': 'http://127.0.0.1:1' } });
    const { server } = closed;
    using tenant = await tenantCaller(server, 'acme', { max_frames: 10, max_bytes: 1_000_000, max_statements: 5 });
    await tenant.ask('POST', '/imp?name=trades', 'a\n1\n');
    const operator = closed.token('operator');
    await closed.as(operator, 'POST', '/imp?name=trades', 'a\n1\n2\n3\n');
    const flight = new FlightClient(server.grpcAddress.port, headers());
    const paths = [
      '/exec?handle=trades&fmt=json',
      '/exec?query=select+count(*)+from+trades&engine=local&fmt=json',
      '/exec?query=select+*+from+nowhere&engine=local&fmt=json',
      '/exec?query=select+1&engine=tsdb&fmt=json',
    ];
    const once = async (): Promise<void> => {
      await Promise.all(paths.map((path) => closed.as(operator, 'GET', path)));
      await closed.as(operator, 'POST', '/imp?name=trades&append=true', 'a\n4\n');
      await flight.actions().catch(() => {});
    };
    await once();
    load = setInterval(() => void once().catch(() => {}), 250);
    prometheus = await startPrometheus(folder ?? '', {
      targets: [new URL(server.url).host],
      token: operator ?? '',
    });
    // Rates need several looks.
    const looks = async (): Promise<number> =>
      Number((await prometheus.query('count_over_time(up[1m])'))[0]?.value[1] ?? 0);
    await eventually(async () => (await looks()) >= 6);
  });
  afterAll(async () => {
    clearInterval(load);
    await prometheus[Symbol.asyncDispose]();
    await closed[Symbol.asyncDispose]();
  });

  test('is up, and what Prometheus has of it is what the server says', async () => {
    expect(await prometheus.query('up == 1')).toHaveLength(1);
    expect((await prometheus.query('framehold_frames'))[0]?.value[1]).toBe('2');
    const [errors] = await prometheus.query('scrape_samples_scraped - scrape_samples_post_metric_relabeling');
    expect(errors?.value[1]).toBe('0');
  });

  test.each(queries)('$name: $title shows something', async ({ expr }) => {
    const found = await prometheus.query(asAsked(expr));
    expect(found.length, asAsked(expr)).toBeGreaterThan(0);
    // Of what did not happen in that time there is no share, and no quantile.
    const areNumbers = found.map(({ value }) => Number.isFinite(Number(value[1])));
    expect(areNumbers, asAsked(expr)).toContain(true);
  });

  test('promtool finds nothing to complain of in the text', async () => {
    expect(await promtool(folder ?? '', ['check', 'metrics'], (await metrics()).text)).toBe('');
  });

  test('the strict parser of OpenMetrics reads the same metrics', async () => {
    const { text } = await metrics({ accept: 'application/openmetrics-text; version=1.0.0' });
    const program = [
      'import sys',
      'from prometheus_client.openmetrics.parser import text_string_to_metric_families as families',
      'print("\\n".join(sorted(f"{family.name} {family.type}" for family in families(sys.stdin.read()))))',
    ].join('\n');
    const interpreter = await needed('prometheus-client', python);
    if (interpreter === undefined) return;
    const seen = execFileSync(interpreter, ['-c', program], { input: text, encoding: 'utf8' }).trim().split('\n');
    const told = metricTable.filter(({ name }) => new RegExp(`^# TYPE ${name} `, 'm').test(text));
    expect(seen).toEqual(told.map(({ name, kind }) => `${name} ${kind}`).sort());
    expect(told.length).toBeGreaterThan(metricTable.length - 5);
  });
});

describe.each(dashboards)('$name', ({ dashboard }) => {
  const { panels } = dashboard;

  test('has panels of its own that do not overlap', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const [index, { gridPos: a }] of panels.entries()) {
      expect(a.x + a.w).toBeLessThanOrEqual(24);
      for (const { gridPos: b } of panels.slice(index + 1)) {
        const isApart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        expect(isApart, JSON.stringify([a, b])).toBe(true);
      }
    }
  });

  test('asks only for metrics that there are', () => {
    const known = new Set(
      metricTable.flatMap(({ name, kind }) => {
        if (kind === 'histogram') return [`${name}_bucket`, `${name}_count`, `${name}_sum`];
        return kind === 'counter' ? [`${name}_total`] : [name];
      }),
    );
    const asked = panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => expr.match(/\b(framehold|http|rpc|process|nodejs|v8js)_\w+(?=\{)/g) ?? []),
    );
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.filter((name) => !known.has(name))).toEqual([]);
  });
});
