import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { clusterVenv } from './cluster-venv.ts';
import { EngineProcess } from './engine-process.ts';

export interface Sail extends AsyncDisposable {
  /** `sc://127.0.0.1:port` */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it at once; the port is then free. */
  kill(): Promise<void>;
  /** Starts it again on the same port, ending it first if it runs. */
  restart(): Promise<void>;
}

const startMs = 30_000;

/** A Sail of its own that serves Spark Connect. Resolves when it listens. Throws Missing. */
export async function startSail(): Promise<Sail> {
  const { sail } = await clusterVenv();
  const folder = await temporaryDirectory();
  const port = await freePort();
  const args = ['spark', 'server', '--ip', '127.0.0.1', '--port', String(port)];
  const launch = () => EngineProcess.start({ command: sail, args, env: {}, log: join(folder.path, 'sail.log') });
  let server = await launch();
  const dispose = async (): Promise<void> => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  };
  try {
    await server.untilListening(port, startMs);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    url: `sc://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid;
    },
    kill: () => server[Symbol.asyncDispose](),
    async restart() {
      await server[Symbol.asyncDispose]();
      server = await launch();
      await server.untilListening(port, startMs);
    },
    [Symbol.asyncDispose]: dispose,
  };
}
