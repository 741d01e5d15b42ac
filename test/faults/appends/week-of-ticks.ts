import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { residentBytesOf } from '../../support/process-facts.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { until } from '../harness/until.ts';
import { Connection } from '../load/connection.ts';
import { quantile } from '../load/quantile.ts';

/** A tick a second: rows leave the log when they are 30 s old. */
const ticksPerFlush = { ci: 5, release: 30 };
const handle = 'ticks';
/** About 32 parts of a size are merged; of whatever sizes there are at most 256 small ones. */
const mostFiles = { ci: 34, release: 300 };
const mostManifestBytes = 64 * 1024;
const calmWithinMs = 60_000;
const growthMB = 300;

interface Sample {
  readonly files: number;
  readonly manifestBytes: number;
  readonly memoryMB: number;
  readonly latencyMs: number;
}

/** G6: a tick a second by count, with the flushes that the clock would bring. */
export const weekOfTicks: Scenario = {
  id: 'G6',
  promise:
    'ticks that are appended for a week leave few files and a small manifest, and cost as much at the end as at the start',
  rounds: { ci: 50, release: 500_000 },
  secondsPerRound: 0.2,
  async run({ rounds, size, progress }: Trial) {
    await using directory = await temporaryDirectory();
    const cold = join(directory.path, 'cold');
    await using server = await spawnFramehold({ dataDir: directory.path });
    using connection = new Connection(server.url);
    const samples: Sample[] = [];
    let latencies: number[] = [];
    const sampleEvery = Math.ceil(rounds / 20);
    for (let tick = 0; tick < rounds; tick++) {
      const body = `${handle},symbol=S${tick % 7} price=${tick % 1000}.5,n=${tick}i ${BigInt(tick) * 1_000_000_000n}\n`;
      const { status, text, ms } = await connection.ask('/write', { method: 'POST', body });
      promised(status === 204, 'a tick is acknowledged', text);
      latencies.push(ms);
      if (tick % ticksPerFlush[size] === ticksPerFlush[size] - 1) {
        const flushed = await connection.ask(`/handles/${handle}/flush`, { method: 'POST' });
        promised(flushed.status === 200, 'a flush works', flushed.text);
      }
      if (tick % sampleEvery === sampleEvery - 1) {
        const memoryMB = Math.round(residentBytesOf(server.pid) / 2 ** 20);
        samples.push({ ...(await onDisk(cold)), memoryMB, latencyMs: quantile(latencies, 0.5) });
        latencies = [];
        progress(`${tick + 1} ticks: ${JSON.stringify(samples.at(-1))}`);
      }
    }
    let end = await onDisk(cold);
    await until(
      'a week of ticks is in few files',
      calmWithinMs,
      async () => {
        end = await onDisk(cold);
        return end.files <= mostFiles[size] && end.manifestBytes <= mostManifestBytes;
      },
      () => end,
    );
    const counted = await connection.sql(`select count(*) c, count(distinct n) d, max(n) m from ${handle}`);
    const found = JSON.stringify(JSON.parse(counted.text).dataset);
    promised(found === JSON.stringify([[rounds, rounds, rounds - 1]]), 'every tick is there once', found);
    const early = samples[Math.floor(samples.length / 5)] as Sample;
    const late = samples.at(-1) as Sample;
    if (size === 'release') {
      for (const sample of samples) promised(sample.files <= mostFiles[size], 'files stay few all the time', sample);
      promised(late.memoryMB - early.memoryMB < growthMB, 'memory does not grow with the ticks', samples);
      promised(late.latencyMs < 2 * early.latencyMs + 1, 'the last ticks are as fast as the first', samples);
    }
    return {
      ticks: rounds,
      'most files': Math.max(...samples.map(({ files }) => files)),
      'files at the end': end.files,
      'manifest bytes': end.manifestBytes,
      'MB early': early.memoryMB,
      'MB at the end': late.memoryMB,
      'ack µs early': Math.round(early.latencyMs * 1000),
      'ack µs at the end': Math.round(late.latencyMs * 1000),
    };
  },
};

/** Parts, logs and the manifest of the frame. */
async function onDisk(cold: string): Promise<Pick<Sample, 'files' | 'manifestBytes'>> {
  const own = join(cold, '.framehold');
  const { size: manifestBytes } = await stat(join(own, 'manifests', `${handle}.json`));
  const files = (await filesIn(join(cold, handle))) + (await filesIn(join(own, 'logs', handle))) + 1;
  return { files, manifestBytes };
}

async function filesIn(folder: string): Promise<number> {
  try {
    return (await readdir(folder)).length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}
