import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

/** In the repository: each run adds a line to it. */
export const historyPath = 'bench/history.jsonl';

/** Where the figures were taken. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly node: string;
  /** Over the last minute, before the run. */
  readonly loadAverage: number;
  readonly commit: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    node: process.version,
    loadAverage: loadavg()[0] ?? 0,
    commit: commitOf(fileURLToPath(new URL('../..', import.meta.url))),
  };
}

/** Of a checkout. `-dirty` where it has other changes than the line of an earlier run. */
export function commitOf(checkout: string): string {
  try {
    const name = execFileSync('git', ['describe', '--always'], { cwd: checkout, encoding: 'utf8' }).trim();
    const others = ['diff', '--quiet', 'HEAD', '--', '.', `:(exclude)${historyPath}`];
    return spawnSync('git', others, { cwd: checkout }).status === 0 ? name : `${name}-dirty`;
  } catch {
    return 'unknown';
  }
}
