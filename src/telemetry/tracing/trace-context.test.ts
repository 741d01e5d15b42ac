import { expect, test } from 'vitest';
import { createSampler, samplerNames } from './sampler.ts';
import { formatTraceparent, parseTraceparent } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test.each([
  ['sampled', `00-${traceId}-${spanId}-01`, true],
  ['not sampled', `00-${traceId}-${spanId}-00`, false],
  ['with flags that are not known', `00-${traceId}-${spanId}-03`, true],
  ['of a later version, with more fields', `cc-${traceId}-${spanId}-01-what-the-future-brings`, true],
])('a traceparent %s is understood', (_, header, isSampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled });
});

test.each([
  ['none', undefined],
  ['two of them', [`00-${traceId}-${spanId}-01`]],
  ['version ff', `ff-${traceId}-${spanId}-01`],
  ['more fields than version 00 has', `00-${traceId}-${spanId}-01-more`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['capital letters', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['a short id', `00-${traceId.slice(1)}-${spanId}-01`],
  ['other text', 'x'.repeat(5000)],
])('%s is no traceparent', (_, header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});

test('what is formatted is understood', () => {
  const context = { traceId, spanId, isSampled: true };
  expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
});

test.each(samplerNames)('the sampler %s decides by the caller, or for itself', (name) => {
  const sampler = createSampler(name, 1);
  const decides = (isSampled: boolean): boolean => sampler({ traceId, spanId, isSampled });
  const own = !name.endsWith('off');
  expect([decides(true), decides(false)]).toEqual(name.startsWith('parentbased') ? [true, false] : [own, own]);
  expect(sampler(undefined)).toBe(own);
});

test('a ratio takes that share of the traces, and all services the same ones', () => {
  const sampler = createSampler('traceidratio', 0.25);
  const ids = Array.from(
    { length: 256 },
    (_, n) => `${'a'.repeat(18)}${n.toString(16).padStart(2, '0')}${'8'.repeat(12)}`,
  );
  const taken = ids.filter((id) => sampler({ traceId: id, spanId, isSampled: false }));
  expect(taken).toEqual(ids.slice(0, 64));
});
