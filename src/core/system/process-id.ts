import { readFileSync } from 'node:fs';

/** A prefix for names of files that belong to this process and mean nothing after it. */
export function processPrefix(): string {
  return `${process.pid}-`;
}

/**
 * Whether a name that begins with `processPrefix` belongs to another process that lives. Our own number was another
 * process's before: in a container it is the same at every start.
 */
export function isOfOtherLivingProcess(name: string): boolean {
  const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? process.pid);
  return pid !== process.pid && isProcessAlive(pid);
}

/** Whether a process with this number exists, as far as the system shows: also one that we may not signal. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  return !isZombie(pid);
}

/** Whether it has ended, and its parent has not asked how: it can be signalled, but does nothing any more. Linux only. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^ [ZX]/.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return false;
  }
}
