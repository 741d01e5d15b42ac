import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

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
    commit: commit(),
  };
}

function commit(): string {
  try {
    const cwd = new URL('..', import.meta.url);
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
