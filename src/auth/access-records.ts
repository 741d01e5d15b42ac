import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Semaphore } from '../core/async/semaphore.ts';
import { defaultTenant, type Tenant, type TenantLimits } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { Logger } from '../core/logs/logger.ts';
import type { DurableFiles } from '../frames/disk/durable-file.ts';
import { RecordFolder } from '../frames/disk/record-folder.ts';
import { countFrames, definitionsFolder, tenantRoot } from '../frames/disk/tenant-directory.ts';
import { ShareRecords } from './share-records.ts';
import { damagedTenant, noLimits, noSuchTenant, parseTenantRecord, type TenantRecord } from './tenant-record.ts';
import { generateToken, hashToken } from './token.ts';
import { TokenIndex } from './token-index.ts';
import { type ListedToken, type NewToken, parseTokenRecord, type TokenRecord } from './token-record.ts';
import { TokenUses } from './token-uses.ts';

/** Enough of the hash to name a token by. */
const idLength = 12;
const pollMs = 300;
/** For one tenant, and for the operators. */
const mostTokens = 1000;
/** A token that ended before that makes room for a new one. */
const keepEndedMs = 30 * 24 * 3600 * 1000;

/** The access records of a cold directory: tokens, tenants and shares, for its servers and for commands without one. */
export class AccessRecords implements Disposable {
  readonly shares: ShareRecords;
  readonly #tokens: RecordFolder<TokenRecord>;
  readonly #tokenIndex: TokenIndex;
  readonly #tenants: RecordFolder<TenantRecord>;
  readonly #coldDirectory: string;
  readonly #uses: TokenUses;
  readonly #now: () => number;
  /** One at a time: each begins with the result of the last. */
  readonly #changes = new Semaphore(1);
  readonly #onChange = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(coldDirectory: string, durable: DurableFiles, now: () => number) {
    const folder = join(coldDirectory, '.framehold', 'access');
    this.#coldDirectory = coldDirectory;
    this.#tokens = new RecordFolder(join(folder, 'tokens'), durable, parseTokenRecord);
    this.#tokenIndex = new TokenIndex(this.#tokens);
    this.#tenants = new RecordFolder(join(folder, 'tenants'), durable, parseTenantRecord);
    this.shares = new ShareRecords({
      folder: join(folder, 'shares'),
      durable,
      changes: this.#changes,
      onChanged: () => this.#changed(),
      now,
    });
    this.#uses = new TokenUses(join(folder, 'used'));
    this.#now = now;
  }

  static async open(
    coldDirectory: string,
    durable: DurableFiles,
    now: () => number = Date.now,
  ): Promise<AccessRecords> {
    const records = new AccessRecords(coldDirectory, durable, now);
    await records.refresh();
    return records;
  }

  /** Looks for changes of others from now on, so that a revoked token is refused within a second. */
  watch(logger: Logger): void {
    this.#timer ??= setInterval(() => {
      this.refresh().catch((error: unknown) =>
        logger.warn('could not read the access records', { error: String(error) }),
      );
    }, pollMs).unref();
  }

  /** Calls `listener` on possible changes, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  async refresh(): Promise<void> {
    const changed = await Promise.all([this.#tokens.refresh(), this.#tenants.refresh(), this.shares.refresh()]);
    if (changed.includes(true)) this.#changed();
  }

  /** Undefined for an unknown or revoked token, or one whose tenant was removed. */
  async findToken(token: string): Promise<ListedToken | undefined> {
    const hash = hashToken(token);
    const record = await this.#tokens.get(hash);
    if (record === undefined || !(await this.#hasTenantOf(record))) return undefined;
    return { id: hash.slice(0, idLength), ...record };
  }

  /** Whether this is still the token's tenant: servers may see the removal and remaking of a tenant before those of its tokens. */
  async #hasTenantOf({ tenant, tenantCreatedAt }: TokenRecord): Promise<boolean> {
    if (tenant === undefined || tenant === defaultTenant) return true;
    const record = await this.#tenants.get(tenant);
    // `limitsOf` reports a damaged record.
    return record === undefined ? this.#tenants.has(tenant) : record.createdAt === tenantCreatedAt;
  }

  /** Returns the secret, which is not stored. */
  async createToken(token: NewToken): Promise<{ readonly token: string; readonly record: ListedToken }> {
    const tenantCreatedAt = await this.#tenantCreatedAt(token.tenant);
    // The caller was let in for a tenant that was known until now.
    await this.refresh();
    if ((await this.#tenantCreatedAt(token.tenant)) !== tenantCreatedAt) throw noSuchTenant(token.tenant ?? '');
    const secret = generateToken();
    const hash = hashToken(secret);
    const record = { ...token, tenantCreatedAt, createdAt: this.#now() };
    await this.#changes.run(async () => {
      await this.#makeRoomForToken(token.tenant);
      await this.#tokens.add(hash, record);
    });
    this.#changed();
    return { token: secret, record: { id: hash.slice(0, idLength), ...record } };
  }

  async #makeRoomForToken(tenant: Tenant | undefined): Promise<void> {
    const hashes = await this.#tokenIndex.namesOf(tenant);
    if (hashes.length < mostTokens) return;
    const endedBefore = this.#now() - keepEndedMs;
    const ended: string[] = [];
    for (const hash of hashes) {
      if (((await this.#tokens.get(hash))?.expiresAt ?? Infinity) < endedBefore) ended.push(hash);
    }
    await this.#removeTokens(ended);
    if (hashes.length - ended.length < mostTokens) return;
    const whose = tenant === undefined ? 'the operators have' : `the tenant ${tenant} has`;
    throw new AppError('quota_exceeded', `${whose} ${mostTokens} tokens already`, {
      hint: 'revoke those that nobody uses; the list of tokens tells when each was last used',
    });
  }

  async #tenantCreatedAt(tenant: Tenant | undefined): Promise<number | undefined> {
    if (tenant === undefined || tenant === defaultTenant) return undefined;
    const record = await this.#tenants.get(tenant);
    if (record !== undefined) return record.createdAt;
    throw this.#tenants.has(tenant) ? damagedTenant(tenant) : noSuchTenant(tenant);
  }

  async listTokens(tenant?: Tenant): Promise<ListedToken[]> {
    const tokens: ListedToken[] = [];
    for (const hash of tenant === undefined ? this.#tokens.names : await this.#tokenIndex.namesOf(tenant)) {
      const record = await this.#tokens.get(hash);
      if (record !== undefined) {
        const id = hash.slice(0, idLength);
        tokens.push({ id, ...record, lastUsed: await this.#uses.lastDay(id) });
      }
    }
    return tokens.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** False where there is none of this id, or another tenant's. */
  async revokeToken(id: string, tenant?: Tenant): Promise<boolean> {
    const found = await this.#findById(id, tenant);
    if (found === undefined) return false;
    const removed = await this.#tokens.remove(found.hash);
    await this.#uses.forget(id);
    this.#changed();
    return removed;
  }

  /** Never fails, and need not be awaited. */
  noteUse(id: string): void {
    void this.#uses.note(id, this.#now());
  }

  /** A new token with the same rights; the old one ends after `overlapMs`. */
  async rotateToken(
    id: string,
    overlapMs: number,
    tenant?: Tenant,
  ): Promise<{ readonly token: string; readonly record: ListedToken } | undefined> {
    const old = await this.#findById(id, tenant);
    if (old === undefined) return undefined;
    const { hash, record } = old;
    const { createdAt, tenantCreatedAt: _, ...rights } = record;
    const lifetime = record.expiresAt === undefined ? undefined : record.expiresAt - createdAt;
    const endsAt = lifetime === undefined ? undefined : this.#now() + lifetime;
    const made = await this.createToken({ ...rights, expiresAt: endsAt });
    const expiresAt = Math.min(record.expiresAt ?? Infinity, this.#now() + overlapMs);
    await this.#tokens.replace(hash, { ...record, expiresAt });
    this.#changed();
    return made;
  }

  /** As it is now: another server may have changed it since the last look. */
  async #findById(
    id: string,
    tenant: Tenant | undefined,
  ): Promise<{ readonly hash: string; readonly record: TokenRecord } | undefined> {
    await this.#tokens.reread();
    const hash = [...this.#tokens.names].find((name) => name.slice(0, idLength) === id);
    const record = hash === undefined ? undefined : await this.#tokens.get(hash);
    if (hash === undefined || record === undefined) return undefined;
    return tenant === undefined || record.tenant === tenant ? { hash, record } : undefined;
  }

  async hasTenant(tenant: Tenant): Promise<boolean> {
    if (tenant === defaultTenant) return true;
    await this.#tenants.get(tenant);
    return this.#tenants.has(tenant);
  }

  /** Undefined where there are none. */
  async limitsOf(tenant: Tenant): Promise<TenantLimits | undefined> {
    const record = await this.#tenants.get(tenant);
    if (record === undefined) {
      if (!this.#tenants.has(tenant)) {
        if (tenant === defaultTenant) return undefined;
        throw new AppError('unauthenticated', `the tenant ${tenant} was removed`);
      }
      throw damagedTenant(tenant);
    }
    const { createdAt: _, engines, ...limits } = record;
    return { ...limits, engines: tenant === defaultTenant ? undefined : engines };
  }

  async listTenants(): Promise<{ readonly name: Tenant; readonly record: TenantRecord | undefined }[]> {
    const names = [...new Set([defaultTenant, ...([...this.#tenants.names] as Tenant[])])].sort();
    return Promise.all(names.map(async (name) => ({ name, record: await this.#tenants.get(name) })));
  }

  async createTenant(tenant: Tenant, limits: Omit<TenantRecord, 'createdAt'>): Promise<TenantRecord> {
    const record = { ...limits, createdAt: this.#now() };
    const isNew = tenant !== defaultTenant && (await this.#tenants.add(tenant, record));
    if (!isNew) {
      throw new AppError('invalid_parameter', `there is a tenant ${tenant} already`, {
        hint: 'framehold tenant set changes it',
      });
    }
    this.#changed();
    return record;
  }

  async setTenant(tenant: Tenant, limits: Partial<Omit<TenantRecord, 'createdAt'>>): Promise<TenantRecord> {
    return this.#changes.run(async () => {
      await this.#tenants.reread();
      if (!(await this.hasTenant(tenant))) throw noSuchTenant(tenant);
      const before = await this.#tenants.get(tenant);
      const after = { ...(before ?? { ...noLimits, createdAt: await this.#findCreatedAt(tenant) }), ...limits };
      // One that another server removes meanwhile does not come back.
      if (before === undefined) await this.#tenants.set(tenant, after);
      else if (!(await this.#tenants.replace(tenant, after))) throw noSuchTenant(tenant);
      this.#changed();
      return after;
    });
  }

  /** For a tenant with a lost record, from its last token, so that its tokens stay valid. */
  async #findCreatedAt(tenant: Tenant): Promise<number> {
    const tokens = await this.listTokens(tenant);
    return tokens.at(-1)?.tenantCreatedAt ?? this.#now();
  }

  /** With its tokens, the shares with it, its macros and types; it must have no frames. */
  async removeTenant(tenant: Tenant): Promise<void> {
    if (tenant === defaultTenant) throw new AppError('invalid_parameter', 'the tenant default cannot be removed');
    await this.refresh();
    if (!this.#tenants.has(tenant)) throw noSuchTenant(tenant);
    const frames = await countFrames(this.#coldDirectory, tenant);
    if (frames > 0) {
      throw new AppError(
        'invalid_parameter',
        `the tenant ${tenant} has ${frames} ${frames === 1 ? 'frame' : 'frames'}`,
        {
          hint: `drop them first: framehold ls --tenant ${tenant}, framehold rm --tenant ${tenant} HANDLE`,
        },
      );
    }
    // From here on its tokens are refused, even if their records remain.
    if (!(await this.#tenants.remove(tenant))) throw noSuchTenant(tenant);
    this.#changed();
    // A tenant that is made anew under the name is another one.
    await this.#removeTokens(await this.#tokenIndex.namesOf(tenant));
    await this.shares.removeOfTenant(tenant);
    await rm(definitionsFolder(tenantRoot(this.#coldDirectory, tenant)), { recursive: true, force: true });
    this.#changed();
  }

  async #removeTokens(hashes: readonly string[]): Promise<void> {
    await this.#tokens.removeAll(hashes);
    for (const hash of hashes) await this.#uses.forget(hash.slice(0, idLength));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #changed(): void {
    for (const listener of this.#onChange) listener();
  }
}
