import type { ExpositionFormat } from '../../telemetry/exposition.ts';
import { chooseCoding } from '../exchange/content-coding.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { sendBody } from '../exchange/send-body.ts';

const contentTypes = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const satisfies Record<ExpositionFormat, string>;

/** Renders the metrics as text. `withTenants`: with those of tenants. */
export type MetricsSource = (format: ExpositionFormat, options: { readonly withTenants: boolean }) => Promise<string>;

/** The metrics for Prometheus. `withTenants`: also those of each tenant. */
export function metricsRoute(metrics: MetricsSource, { withTenants }: { readonly withTenants: boolean }): Route {
  return {
    path: '/metrics',
    methods: ['GET', 'HEAD'],
    always: true,
    operations: {
      GET: {
        access: 'seeMetrics',
        summary: 'Metrics for Prometheus',
        description:
          'In the text format 0.0.4, or as OpenMetrics where `Accept` names `application/openmetrics-text`. The reference of metrics lists them.',
        parameters: {},
        responses: {
          200: {
            description: 'All of the server; of tenants to operators of the whole server.',
            content: { 'text/plain': { type: 'string' }, 'application/openmetrics-text': { type: 'string' } },
          },
        },
        errors: ['invalid_parameter'],
      },
    },
    async handle(exchange) {
      readParameters({}, parseQueryString(exchange.target));
      const { accept, 'accept-encoding': codings } = exchange.requestHeaders;
      const format = wantsOpenMetrics(accept) ? 'openmetrics' : 'text';
      const text = await metrics(format, { withTenants });
      const headers = ['content-type', contentTypes[format], 'vary', 'Accept, Accept-Encoding'];
      await sendBody(exchange, only(Buffer.from(text)), { headers, coding: chooseCoding(codings) });
    },
  };
}

/** In doubt the older format, which everything can read. */
function wantsOpenMetrics(accept = ''): boolean {
  const weights = new Map<string, number>();
  for (const item of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1);
    weights.set(name, Math.max(weight, weights.get(name) ?? 0));
  }
  const weight = weights.get('application/openmetrics-text') ?? 0;
  return weight > 0 && weight >= (weights.get('text/plain') ?? 0);
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes;
}
