import { readdir, readFile } from 'node:fs/promises';

/** The memory of other processes of this machine. Undefined on other systems than Linux. */
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

let lastFiles: { readonly open: number; readonly most: number } | undefined;

/** Files and sockets of this process. Undefined if the system does not report them. */
export async function openFiles(): Promise<{ readonly open: number; readonly most: number } | undefined> {
  try {
    const [descriptors, limits] = await Promise.all([
      readdir('/proc/self/fd'),
      readFile('/proc/self/limits', 'latin1'),
    ]);
    const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    // One of them is the look itself.
    lastFiles = { open: descriptors.length - 1, most: Number(most ?? Number.POSITIVE_INFINITY) };
  } catch {
    // Without descriptors left the figures of the last look are the best there are.
  }
  return lastFiles;
}
