import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { LoadMessage, LoadResult, LoadSpec } from './load-spec.ts';

const program = fileURLToPath(new URL('./load-client.ts', import.meta.url));

/** Puts a server under load from a process of its own: the same client for ours and for every rival. */
export async function runLoad(spec: LoadSpec): Promise<LoadResult> {
  // Inherits the arguments of this process, and with them the loader of TypeScript.
  const client = fork(program);
  const answer = await new Promise<LoadMessage>((resolve, reject) => {
    client.once('message', (message) => resolve(message as LoadMessage));
    client.once('error', reject);
    client.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
    client.send(spec);
  });
  if ('error' in answer) throw new Error(`load on ${spec.host}:${spec.port} failed: ${answer.error}`);
  return answer.result;
}
