import type { Cleanup } from '../../src/core/async/cleanup.ts';
import { startBareNode } from '../rivals/bare-node.ts';
import { urlOf } from './http-get.ts';
import type { Lab } from './lab.ts';

/** A collector of traces that takes everything, and the settings that send it a tenth of all requests. */
export async function tracedSettings(lab: Lab, cleanup: Cleanup): Promise<Readonly<Record<string, string>>> {
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') };
  const collector = cleanup.use(await startBareNode(answer, lab.folder));
  return {
    OTEL_ENDPOINT: urlOf(collector, ''),
    OTEL_SAMPLER: 'parentbased_traceidratio',
    OTEL_SAMPLER_RATIO: '0.1',
  };
}
