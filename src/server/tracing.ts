import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logs/logger.ts';
import type { BeginSpan } from '../core/logs/span.ts';
import { version } from '../core/system/version.ts';
import { createSampler } from '../telemetry/tracing/sampler.ts';
import { SpanExporter } from '../telemetry/tracing/span-exporter.ts';
import { parseTraceparent } from '../telemetry/tracing/trace-context.ts';
import { Tracer } from '../telemetry/tracing/tracer.ts';

export interface Tracing {
  readonly beginSpan: BeginSpan;
  readonly exporter: SpanExporter;
}

/** Undefined where no collector is named. */
export function openTracing({ otel }: Config, logger: Logger): Tracing | undefined {
  if (otel.endpoint === undefined) return undefined;
  const { url, authorization } = withoutCredentials(`${otel.endpoint}/v1/traces`);
  const exporter = new SpanExporter({
    url,
    headers: { ...authorization, ...Object.fromEntries(otel.headers ?? []) },
    resource: {
      'service.name': otel.serviceName,
      'service.version': version,
      'host.name': hostname(),
      'process.pid': process.pid,
      ...Object.fromEntries(otel.resourceAttributes ?? []),
    },
    version,
    logger: logger.area('otel'),
  });
  const tracer = new Tracer({
    sampler: createSampler(otel.sampler, otel.samplerRatio),
    onEnded: (span) => exporter.add(span),
  });
  const beginSpan: BeginSpan = (name, traceparent, attributes) =>
    tracer.begin(name, parseTraceparent(traceparent), attributes);
  return { beginSpan, exporter };
}

/** Users and passwords are sent as a header: `fetch` takes no URL with them. */
function withoutCredentials(text: string): { readonly url: string; readonly authorization: Record<string, string> } {
  const url = new URL(text);
  const { username, password } = url;
  if (username === '' && password === '') return { url: text, authorization: {} };
  url.username = '';
  url.password = '';
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url: url.href, authorization: { authorization: `Basic ${Buffer.from(user).toString('base64')}` } };
}
