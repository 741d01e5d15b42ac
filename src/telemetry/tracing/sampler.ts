import type { TraceContext } from './trace-context.ts';

/** By the names of OpenTelemetry's OTEL_TRACES_SAMPLER. */
export const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof samplerNames)[number];

/** Whether a request is to be recorded. `parent`: undefined where its caller has no trace. */
export type Sampler = (parent: TraceContext | undefined) => boolean;

/** `ratio`: of requests whose caller does not decide. Only the samplers by ratio use it. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const isByParent = name.startsWith('parentbased_');
  const share = name.endsWith('ratio') ? ratio : name.endsWith('on') ? 1 : 0;
  return (parent) => {
    if (parent === undefined) return Math.random() < share;
    return isByParent ? parent.isSampled : isWithin(parent.traceId, share);
  };
}

/** All services of a trace decide alike: by the last seven bytes of its id. */
function isWithin(traceId: string, share: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) < share * 2 ** 56;
}
