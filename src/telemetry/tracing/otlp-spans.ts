import type { SpanAttributes } from '../../core/logs/span.ts';
import type { EndedSpan } from './tracer.ts';

const statusError = 2;

/** The body of a request to `/v1/traces`: OTLP as JSON. Ids are hexadecimal, 64-bit integers are text, enums are numbers. */
export function otlpTraces(spans: readonly EndedSpan[], resource: SpanAttributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'framehold', version }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan(span: EndedSpan): object {
  const { traceId, spanId, parentSpanId, name, kind, attributes, errorType } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: unixNanos(span.beganMs),
    endTimeUnixNano: unixNanos(span.endedMs),
    attributes: keyValues(errorType === undefined ? attributes : { ...attributes, 'error.type': errorType }),
    status: errorType === undefined ? {} : { code: statusError },
  };
}

/** Of a time on the clock of `performance.now`. In two parts: a double has no room for all digits. */
function unixNanos(ms: number): string {
  const unixMs = performance.timeOrigin + ms;
  const whole = Math.floor(unixMs);
  return `${whole}${String(Math.floor((unixMs - whole) * 1e6)).padStart(6, '0')}`;
}

function keyValues(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
