import { type ClientSettings, readClientSettings } from '../../../src/config/client-settings.ts';
import { homeDirectory, readIfExists } from '../../../src/config/local-files.ts';
import type { HttpOptions } from './http.ts';
import { NodeConnection } from './node/node-connection.ts';
import { type ClientTls, tlsProblem } from './node/tls.ts';

export { NodeConnection } from './node/node-connection.ts';
export * from './public.ts';

export interface ConnectOptions extends HttpOptions {
  /** The authorities to trust: PEM, or the path of a file with it. Default: those of Node.js. */
  readonly ca?: string | undefined;
  /** The certificate to show, in the same forms, with its `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * A connection to the server at `http(s)://host:port`. Nothing is sent before the first operation. Missing options are found like
 * those of the command line: `FRAMEHOLD_SERVER`, `FRAMEHOLD_TOKEN`, the section `[client]` of `~/.framehold/config.toml`, and
 * `http://127.0.0.1:9000`.
 */
export function connect(url?: string, { token, ca, cert, key, ...options }: ConnectOptions = {}): NodeConnection {
  const found = findSettings();
  const tls: ClientTls = {
    ca: pemOf('ca', ca) ?? found.ca,
    ...(cert === undefined && key === undefined
      ? { cert: found.cert, key: found.key }
      : { cert: pemOf('cert', cert), key: pemOf('key', key) }),
  };
  const problem = tlsProblem(tls);
  if (problem !== undefined) throw new TypeError(problem);
  return new NodeConnection(serverUrl(url ?? found.server), { ...options, token: token ?? found.token, tls });
}

function findSettings(): ClientSettings {
  try {
    return readClientSettings({
      argv: [],
      env: process.env,
      homeDir: homeDirectory(),
      cwd: process.cwd(),
      coreCount: 1,
      stderrIsTerminal: false,
      readFile: readIfExists,
    });
  } catch (error) {
    throw new TypeError((error as Error).message);
  }
}

function serverUrl(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:\/\//i.test(text);
  if (!isUrl)
    throw new TypeError(`the server is ${JSON.stringify(text)}; expected an address such as http://127.0.0.1:9000`);
  return text;
}

function pemOf(name: string, given: string | undefined): string | undefined {
  if (given === undefined || given.includes('-----BEGIN ')) return given;
  const text = readIfExists(given);
  if (text === undefined) throw new TypeError(`there is no file ${given} (${name})`);
  return text;
}
