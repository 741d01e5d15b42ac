import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { httpGet, urlOf } from '../harness/http-get.ts';
import { type ClientOptions, type GrpcServer, type HttpServer, ServerProcess } from '../harness/server-process.ts';

export const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface FrameholdOptions {
  readonly dataDir: string;
  readonly logPath: string;
  /** Further settings by their environment names, without the prefix: `CACHE_SIZE`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Client options that these settings need. */
  readonly client?: ClientOptions;
}

/** Serves on both ports. */
export type FrameholdServer = HttpServer & GrpcServer;

const startMs = 120_000;
const readableMs = 60_000;

/** The built server as users run it. Resolves when it serves. */
export async function startFramehold(options: FrameholdOptions): Promise<FrameholdServer> {
  const server = new ServerProcess(frameholdCommand(options));
  try {
    const url = new URL(await server.printed(/^ +HTTP +(\S+)$/m, startMs));
    const host = url.hostname;
    const port = Number(url.port);
    const grpcUri = await server.printed(/^ +gRPC +(\S+)$/m, startMs);
    const { pid } = server;
    return { ...options.client, host, port, grpcUri, pid, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** A file that was moved into the cold directory becomes a frame when the server has seen it. */
export async function untilReadable(server: HttpServer, handle: string): Promise<void> {
  const url = urlOf(server, handlePath(handle, '0'));
  for (const start = Date.now(); ; await delay(50)) {
    const { status, body } = await httpGet(url, server);
    if (status === 200) return;
    if (Date.now() - start > readableMs) throw new Error(`${url} answered ${status}: ${body.toString('utf8', 0, 300)}`);
  }
}

export function frameholdCommand({ dataDir, logPath, settings = {} }: FrameholdOptions) {
  const ours = {
    DATA_DIR: dataDir,
    HTTP_BIND_ADDRESS: '127.0.0.1:0',
    GRPC_HOST: '127.0.0.1',
    GRPC_PORT: '0',
    ...settings,
  };
  const env: NodeJS.ProcessEnv = {};
  // Nothing of the user's own settings, and no configuration file: that would be in the home directory.
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^(FRAMEHOLD_|SERVICE_|TSDB_HTTP_URL$|RUST_LOG$|NODE_OPTIONS$)/.test(name)) env[name] = value;
  }
  env.HOME = dataDir;
  for (const [name, value] of Object.entries(ours)) env[`FRAMEHOLD_${name}`] = value;
  return { command: process.execPath, args: [program, 'server'], env, logPath };
}

/** Rows `from` to `to`, counted from 1. */
export function handlePath(handle: string, limit: string): string {
  return `/exec?handle=${handle}&fmt=json&limit=${limit}`;
}
