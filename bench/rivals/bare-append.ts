import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type HttpServer, startListening } from '../harness/server-process.ts';

const program = fileURLToPath(new URL('./bare-append-server.mjs', import.meta.url));

/** A `node:http` server that appends each body to a file and answers when it is on the disk. `group`: many by one fdatasync. */
export function startBareAppend(folder: string, how: 'each' | 'group'): Promise<HttpServer> {
  const args = [program, join(folder, `bare-append-${how}`), how];
  return startListening({ command: process.execPath, args, logPath: join(folder, 'bare-append.log') }, 10_000);
}
