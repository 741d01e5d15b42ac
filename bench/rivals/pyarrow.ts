import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonEnvironment, pythonPrograms } from '../python.ts';
import { type GrpcServer, ServerProcess } from '../server-process.ts';

const program = fileURLToPath(new URL('./pyarrow-server.py', import.meta.url));

const startMs = 120_000;

/** Arrow's own Flight server (C++), with the rows of Parquet files in memory: the ceiling for any Flight server. */
export async function startPyarrow(folder: string, tables: Readonly<Record<string, string>>): Promise<GrpcServer> {
  const command = join(await pythonPrograms(), 'python');
  const args = [program, ...Object.entries(tables).map(([name, path]) => `${name}=${path}`)];
  const server = new ServerProcess({ command, args, env: pythonEnvironment(), logPath: join(folder, 'pyarrow.log') });
  try {
    const port = await server.printed(/listening on (\d+)/, startMs);
    const grpcUri = `grpc://127.0.0.1:${port}`;
    return { grpcUri, pid: server.pid, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}
