import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TlsPair } from '../harness/access.ts';
import { pythonEnvironment, pythonPrograms } from '../harness/python.ts';
import { type GrpcServer, startListening } from '../harness/server-process.ts';

const program = fileURLToPath(new URL('./pyarrow-server.py', import.meta.url));

const startMs = 120_000;

/** Arrow's own Flight server (C++), with the rows of Parquet files in memory: the ceiling for any Flight server. */
export async function startPyarrow(
  folder: string,
  tables: Readonly<Record<string, string>>,
  tls?: TlsPair,
): Promise<GrpcServer> {
  const command = join(await pythonPrograms(), 'python');
  const args = [program, ...Object.entries(tables).map(([name, path]) => `${name}=${path}`)];
  const env = { ...pythonEnvironment(), ...tls?.settings };
  const logPath = join(folder, 'pyarrow.log');
  const server = await startListening({ command, args, env, logPath }, startMs);
  if (tls === undefined) return server;
  return { ...server, grpcUri: server.grpcUri.replace('grpc:', 'grpc+tls:'), ca: tls.ca };
}
