import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TlsPair } from '../harness/access.ts';
import type { HttpAnswer } from '../harness/http-get.ts';
import { type HttpServer, type ServerCommand, startListening } from '../harness/server-process.ts';

const program = fileURLToPath(new URL('./bare-node-server.mjs', import.meta.url));

const startMs = 10_000;

/** Headers that Node's `http` sends by itself. */
const automaticHeaders = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Where the body of the answer lies. */
type Place = 'memory' | 'disk';

interface BareNodeOptions {
  /** Default: any that is free. */
  readonly port?: number;
  readonly place?: Place;
  /** With it, the server is one of `node:https`. */
  readonly tls?: TlsPair;
}

/** A `node:http` server that knows one answer: the most that a server on Node can reach. */
export async function startBareNode(
  answer: HttpAnswer,
  folder: string,
  options: BareNodeOptions = {},
): Promise<HttpServer> {
  const server = await startListening(await bareNodeCommand(answer, folder, options), startMs);
  return { ...server, ca: options.tls?.ca };
}

export async function bareNodeCommand(
  answer: HttpAnswer,
  folder: string,
  { port = 0, place = 'memory', tls }: BareNodeOptions = {},
): Promise<ServerCommand> {
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !automaticHeaders.has(name)));
  const answerPath = join(folder, 'bare-node.json');
  const bodyPath = join(folder, 'bare-node.body');
  await writeFile(answerPath, JSON.stringify({ headers }));
  await writeFile(bodyPath, answer.body);
  const files = tls === undefined ? [] : [tls.certFile, tls.keyFile];
  const args = [program, answerPath, bodyPath, String(port), place, ...files];
  return { command: process.execPath, args, logPath: join(folder, 'bare-node.log') };
}
