import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export interface FaultOptions {
  readonly processes: readonly number[];
  /** Only their threads of now: not the processes that they start. */
  readonly isAlone?: boolean;
  /** The system call that fails with EIO. */
  readonly call: string;
  /** Which of those calls, counted from now in each thread, from 1; `3+` means the third and all after it. */
  readonly when: string;
  /** It does not fail, but takes so much longer. */
  readonly delayMs?: number;
  /** Only calls on these files. Default: all. */
  readonly paths?: readonly string[];
  readonly traceFile: string;
}

export interface InjectedFault {
  /** Lets the processes go on without faults, and gives the trace of the failing calls and of all that sync. */
  end(): Promise<string>;
}

/** Makes system calls of running processes fail. Resolves when they are under it. */
export async function injectFault({
  processes,
  isAlone = false,
  call,
  when,
  delayMs,
  paths = [],
  traceFile,
}: FaultOptions): Promise<InjectedFault> {
  const attached = isAlone ? processes.flatMap((pid) => readdirSync(`/proc/${pid}/task`)) : processes.map(String);
  const fault = delayMs === undefined ? 'error=EIO' : `delay_enter=${delayMs * 1000}`;
  const traced = [...new Set([call, 'fsync', 'fdatasync'])].join(',');
  const strace = spawn(
    'strace',
    [
      ...(isAlone ? [] : ['-f']),
      ...['-y', '-o', traceFile, '-e', `trace=${traced}`, '-e', `inject=${call}:${fault}:when=${when}`],
      ...paths.flatMap((path) => ['-P', path]),
      ...attached.flatMap((id) => ['-p', id]),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(strace, 'exit');
  let said = '';
  for await (const text of strace.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    said += text;
    if (attached.every((id) => said.includes(`Process ${id} attached`))) break;
  }
  strace.stderr.resume();
  return {
    async end() {
      strace.kill('SIGINT');
      await exited;
      return readFile(traceFile, 'utf8');
    },
  };
}
