import type { ConfigSources } from './load-config.ts';
import { loadClientConfig } from './load-config.ts';
import { UsageError } from './usage-error.ts';

/** The server for a client, and its credentials. Certificates and keys are PEM. */
export interface ClientSettings {
  readonly server: string;
  readonly token: string | undefined;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** As flags, the environment or the config file name them. Throws a UsageError. */
export function readClientSettings(sources: ConfigSources): ClientSettings {
  const { server, tokenFile, caFile, certFile, keyFile } = loadClientConfig(sources);
  const read = (key: string, path: string | undefined): string | undefined => {
    if (path === undefined) return undefined;
    const text = sources.readFile(path);
    if (text === undefined) throw new UsageError(`there is no file ${path} (client.${key})`);
    return text;
  };
  return {
    server,
    token: readToken(sources, tokenFile),
    ca: read('ca_file', caFile),
    cert: read('cert_file', certFile),
    key: read('key_file', keyFile),
  };
}

/** From the environment or a file: never from the command line, which everybody on the machine sees. */
function readToken({ env, readFile }: ConfigSources, file: string | undefined): string | undefined {
  const token = env.FRAMEHOLD_TOKEN?.trim() || undefined;
  if (token !== undefined || file === undefined) return token;
  const text = readFile(file);
  if (text === undefined) throw new UsageError(`there is no token file ${file} (client.token_file)`);
  return text.trim();
}
