import { join } from 'node:path';
import { AccessRecords } from '../../../src/auth/access-records.ts';
import { Cleanup } from '../../../src/core/async/cleanup.ts';
import { defaultTenant, type Role } from '../../../src/core/callers/principal.ts';
import { DurableFiles } from '../../../src/frames/disk/durable-file.ts';
import { eventually } from '../../support/frame-store.ts';
import { ask } from '../../support/http-client.ts';
import { type SpawnOptions, spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** A server of a file's own, with nothing in it. The built program, because only that holds the console. */
export interface ConsoleServer extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  /** Puts a table of CSV in a frame's place. */
  put(handle: string, csv: string | Buffer): Promise<void>;
  append(handle: string, csv: string): Promise<void>;
  /** Puts what a statement gives in a frame's place. */
  putSql(handle: string, sql: string): Promise<void>;
}

export function startConsoleServer(options: Partial<SpawnOptions> = {}): Promise<ConsoleServer> {
  return Cleanup.scope(async (cleanup) => {
    const dataDir = options.dataDir ?? cleanup.use(await temporaryDirectory()).path;
    const { url } = cleanup.use(await spawnFramehold({ ...options, dataDir }));
    return { url, dataDir, ...writersTo(url) };
  });
}

/** A server that wants to know who asks. */
export interface ClosedConsoleServer extends ConsoleServer {
  /** One that the server knows already. */
  makeToken(role: Role): Promise<{ readonly token: string; revoke(): Promise<void> }>;
}

export function startClosedConsoleServer(options: Partial<SpawnOptions> = {}): Promise<ClosedConsoleServer> {
  return Cleanup.scope(async (cleanup) => {
    // All pages have one address.
    const flags = ['--auth-enabled', '--auth-max-failed-logins', '1000000', ...(options.flags ?? [])];
    const { url, dataDir } = cleanup.use(await startConsoleServer({ ...options, flags }));
    const records = await AccessRecords.open(join(dataDir, 'cold'), new DurableFiles());
    cleanup.defer(() => records[Symbol.dispose]());
    const isKnown = async (token: string): Promise<boolean> =>
      (await ask(`${url}/whoami`, { headers: { authorization: `Bearer ${token}` } })).status === 200;
    const makeToken: ClosedConsoleServer['makeToken'] = async (role) => {
      const tenant = role === 'operator' ? undefined : defaultTenant;
      const made = await records.createToken({ name: role, role, tenant, prefix: undefined, expiresAt: undefined });
      await eventually(() => isKnown(made.token));
      const revoke = async (): Promise<void> => {
        await records.revokeToken(made.record.id);
        await eventually(async () => !(await isKnown(made.token)));
      };
      return { token: made.token, revoke };
    };
    const writer = await makeToken('write');
    return { url, dataDir, makeToken, ...writersTo(url, { authorization: `Bearer ${writer.token}` }) };
  });
}

function writersTo(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Pick<ConsoleServer, 'put' | 'append' | 'putSql'> {
  const send = async (path: string, body: string | Buffer): Promise<void> => {
    const answer = await ask(`${url}${path}`, { method: 'POST', headers, body });
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  };
  return {
    put: (handle, csv) => send(`/imp?name=${encodeURIComponent(handle)}&overwrite=true`, csv),
    append: (handle, csv) => send(`/imp?name=${encodeURIComponent(handle)}&append=true`, csv),
    putSql: (handle, sql) => send('/sql', JSON.stringify({ sql: `CREATE OR REPLACE TABLE "${handle}" AS ${sql}` })),
  };
}
