import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AccessRecords } from '../../../src/auth/access-records.ts';
import { noLimits } from '../../../src/auth/tenant-record.ts';
import type { ListedToken } from '../../../src/auth/token-record.ts';
import { defaultTenant, type Role, type Tenant } from '../../../src/core/callers/principal.ts';
import { DurableFiles } from '../../../src/frames/disk/durable-file.ts';
import { ask } from '../../support/http-client.ts';
import type { SpawnedFramehold } from '../../support/spawned-framehold.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../harness/until.ts';
import { type ServerOptions, SharedServers } from '../shared/shared-servers.ts';

export interface NewToken {
  readonly role: Role;
  readonly tenant?: string;
  readonly expiresAt?: number;
}

export interface ClosedServerOptions extends ServerOptions {
  readonly toml?: string;
}

/** Servers of one directory that require credentials, and its access records as commands with `--data-dir` change them. */
export class ClosedServers implements AsyncDisposable {
  readonly #directory: TemporaryDirectory;
  readonly #shared: SharedServers;
  readonly records: AccessRecords;

  private constructor(directory: TemporaryDirectory, shared: SharedServers, records: AccessRecords) {
    this.#directory = directory;
    this.#shared = shared;
    this.records = records;
  }

  static async start(
    count: number,
    { toml = '', flags = [], env = {}, ...options }: ClosedServerOptions = {},
  ): Promise<ClosedServers> {
    const directory = await temporaryDirectory();
    const config = join(directory.path, 'config.toml');
    await writeFile(config, toml);
    const shared = new SharedServers(directory.path, count, {
      ...options,
      // All callers have one address.
      env: { FRAMEHOLD_AUTH_MAX_FAILED_LOGINS: '1000000', ...env },
      flags: ['--auth-enabled', '--config', config, ...flags],
    });
    const records = await AccessRecords.open(join(directory.path, 'cold'), new DurableFiles());
    const servers = new ClosedServers(directory, shared, records);
    try {
      await shared.startAll();
    } catch (error) {
      await servers[Symbol.asyncDispose]();
      throw error;
    }
    return servers;
  }

  get all(): readonly SpawnedFramehold[] {
    return this.#shared.living;
  }

  at(index: number): SpawnedFramehold {
    return this.#shared.at(index);
  }

  /** Kills the server, and starts it again. */
  async restart(index: number): Promise<void> {
    await this.at(index)[Symbol.asyncDispose]();
    await this.#shared.start(index);
  }

  async makeTenant(name: string): Promise<void> {
    await this.records.createTenant(name as Tenant, noLimits);
  }

  /** Resolves when every server knows it. */
  async makeToken({ role, tenant = defaultTenant, expiresAt }: NewToken): Promise<{
    readonly token: string;
    readonly record: ListedToken;
  }> {
    const made = await this.records.createToken({
      name: `${tenant}-${role}`,
      role,
      tenant: role === 'operator' ? undefined : (tenant as Tenant),
      prefix: undefined,
      expiresAt,
    });
    await this.#untilKnown(made.token);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.records[Symbol.dispose]();
    await this.#shared[Symbol.asyncDispose]();
    await this.#directory[Symbol.asyncDispose]();
  }

  async #untilKnown(token: string): Promise<void> {
    for (const { url } of this.all) {
      await until('a new token is known', 10_000, async () => {
        return (await ask(`${url}/whoami`, { headers: bearer(token) })).status === 200;
      });
    }
  }
}

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}
