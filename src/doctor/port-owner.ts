import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

/** The process that listens on a port, as far as this user can see. */
export interface PortOwner {
  readonly pid: number;
  /** Its program, without arguments: those may hold secrets. */
  readonly command: string;
  readonly isFramehold: boolean;
}

/** As `/proc/net/tcp` writes it. */
const listening = '0A';

/** Linux only. Undefined: it is another user's, or in another container. */
export async function portOwner(port: number): Promise<PortOwner | undefined> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  const sockets = new Set(tables.flatMap((table) => listenersIn(table, port)).map((inode) => `socket:[${inode}]`));
  if (sockets.size === 0) return undefined;
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await hasOneOf(pid, sockets))) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    return { pid: Number(pid), command: basename(command[0] ?? '') || 'a process', isFramehold: isFramehold(command) };
  }
  return undefined;
}

/** The inodes of sockets that listen on a port. */
function listenersIn(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => local.endsWith(suffix) && state === listening)
    .flatMap((fields) => fields[9] ?? []);
}

async function hasOneOf(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')));
  return links.some((link) => sockets.has(link));
}

/** `node …/framehold server`, or `node …/dist/main.js server`. */
function isFramehold(command: readonly string[]): boolean {
  const program = command.findIndex((argument) => /(^|\/)(framehold|dist\/main\.js)$/.test(argument));
  return program >= 0 && command[program + 1] === 'server';
}
