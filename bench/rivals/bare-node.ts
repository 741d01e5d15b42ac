import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HttpAnswer } from '../http-get.ts';
import { type HttpServer, type ServerCommand, startListening } from '../server-process.ts';

const program = fileURLToPath(new URL('./bare-node-server.mjs', import.meta.url));

const startMs = 10_000;

/** What Node's `http` does by itself. */
const automaticHeaders = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Where the body of the answer lies. */
type Place = 'memory' | 'disk';

/** A `node:http` server that knows one answer: the most that a server on Node can reach. */
export async function startBareNode(
  answer: HttpAnswer,
  folder: string,
  { place = 'memory' as Place } = {},
): Promise<HttpServer> {
  return await startListening(await bareNodeCommand(answer, folder, { place }), startMs);
}

export async function bareNodeCommand(
  answer: HttpAnswer,
  folder: string,
  { port = 0, place = 'memory' as Place } = {},
): Promise<ServerCommand> {
  const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !automaticHeaders.has(name)));
  const answerPath = join(folder, 'bare-node.json');
  const bodyPath = join(folder, 'bare-node.body');
  await writeFile(answerPath, JSON.stringify({ headers }));
  await writeFile(bodyPath, answer.body);
  const args = [program, answerPath, bodyPath, String(port), place];
  return { command: process.execPath, args, logPath: join(folder, 'bare-node.log') };
}
