import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GrpcServer, startListening } from '../harness/server-process.ts';

const program = fileURLToPath(new URL('./bare-http2-server.mjs', import.meta.url));

const startMs = 10_000;

/**
 * A `node:http2` server that calls another one once for each kind of call, and from then on repeats its answers: the rest is the
 * client, the wire and Node.
 */
export async function startBareHttp2(folder: string, { grpcUri }: GrpcServer): Promise<GrpcServer> {
  const args = [program, grpcUri.replace(/^grpc:/, 'http:')];
  const logPath = join(folder, 'bare-http2.log');
  return await startListening({ command: process.execPath, args, logPath }, startMs);
}
