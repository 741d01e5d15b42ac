import { readFileSync } from 'node:fs';

/** Milliseconds that a process has computed; NaN for one that has ended. Linux counts in steps of ten. */
export function computedMs(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
