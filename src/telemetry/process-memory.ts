import { readFile } from 'node:fs/promises';

/** How much memory other processes of this machine have. Undefined where the system does not tell: only Linux does. */
export async function residentBytes(pids: readonly number[]): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const each = await Promise.all(pids.map(residentBytesOf));
  return each.reduce((sum, bytes) => sum + bytes, 0);
}

/** 0 for a process that has ended. */
async function residentBytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  return 1024 * Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
}
