import { join } from 'node:path';
import { AppError } from '../core/app-error.ts';
import { Semaphore } from '../core/async/semaphore.ts';
import { sharedName } from '../core/frame-name.ts';
import type { Handle } from '../core/handle.ts';
import type { Logger } from '../core/logger.ts';
import { defaultTenant, isRole, isTenant, type Role, type Tenant, type TenantLimits } from '../core/principal.ts';
import type { DurableFiles } from '../frames/disk/durable-file.ts';
import { countFrames } from '../frames/disk/tenant-directory.ts';
import { RecordFolder } from './record-folder.ts';
import { assertShareable, indexShares, parseShares, type Share, type SharesIndex, shareName } from './share-index.ts';
import { generateToken, hashToken } from './token.ts';
import { TokenIndex } from './token-index.ts';
import { TokenUses } from './token-uses.ts';

/** A token, without its secret. */
export interface TokenRecord {
  readonly name: string;
  /** An operator's has none. */
  readonly tenant: Tenant | undefined;
  /** When its tenant was made: one that is made anew under the name is another. `default` is always the same. */
  readonly tenantCreatedAt?: number | undefined;
  readonly role: Role;
  readonly prefix: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
}

export interface ListedToken extends TokenRecord {
  readonly id: string;
  /** The day, in UTC. Undefined where it was not used yet, or nobody asked. */
  readonly lastUsed?: string | undefined;
}

export interface TenantRecord extends TenantLimits {
  readonly createdAt: number;
  readonly engines: readonly string[];
}

interface ShareRecord {
  /** Of the frame that was shared: one that is made anew under its handle is another. */
  readonly origin: string;
  readonly createdAt: number;
}

/** What one says of a token to make it. */
export type NewToken = Omit<TokenRecord, 'createdAt' | 'tenantCreatedAt'>;

/** Enough of the hash to name a token by. */
const idLength = 12;
const pollMs = 300;
/** Of one tenant, and of the operators. */
const mostTokens = 1000;
/** Of one frame. */
const mostShares = 1000;
/** A token that ended before that makes room for a new one. */
const keepEndedMs = 30 * 24 * 3600 * 1000;

/** Who may do what in one cold directory: tokens, tenants and shares, for all servers on it and for commands without a server. */
export class AccessRecords implements Disposable {
  readonly #tokens: RecordFolder<TokenRecord>;
  readonly #tokenIndex: TokenIndex;
  readonly #tenants: RecordFolder<TenantRecord>;
  readonly #shares: RecordFolder<ShareRecord>;
  readonly #coldDirectory: string;
  readonly #uses: TokenUses;
  readonly #now: () => number;
  /** One at a time: each begins with what the last one left. */
  readonly #changes = new Semaphore(1);
  readonly #onChange = new Set<() => void>();
  #sharesIndex: SharesIndex | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(coldDirectory: string, durable: DurableFiles, now: () => number) {
    const folder = join(coldDirectory, '.framehold', 'access');
    this.#coldDirectory = coldDirectory;
    this.#tokens = new RecordFolder(join(folder, 'tokens'), durable, parseToken);
    this.#tokenIndex = new TokenIndex(this.#tokens);
    this.#tenants = new RecordFolder(join(folder, 'tenants'), durable, parseTenantRecord);
    this.#shares = new RecordFolder(join(folder, 'shares'), durable, parseShare);
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

  /** Called when anything may have changed, until what this gives is called. */
  onChange(listener: () => void): () => void {
    this.#onChange.add(listener);
    return () => this.#onChange.delete(listener);
  }

  async refresh(): Promise<void> {
    const changed = await Promise.all([this.#tokens.refresh(), this.#tenants.refresh(), this.#shares.refresh()]);
    if (changed.includes(true)) this.#changed();
  }

  /** Undefined for one that is unknown or revoked, or whose tenant was removed. */
  async findToken(token: string): Promise<ListedToken | undefined> {
    const hash = hashToken(token);
    const record = await this.#tokens.get(hash);
    if (record === undefined || !(await this.#hasTenantOf(record))) return undefined;
    return { id: hash.slice(0, idLength), ...record };
  }

  /** Whether the tenant is the one that the token was made in: of its end and of a new one servers may hear before that of its tokens. */
  async #hasTenantOf({ tenant, tenantCreatedAt }: TokenRecord): Promise<boolean> {
    if (tenant === undefined || tenant === defaultTenant) return true;
    const record = await this.#tenants.get(tenant);
    // Where the record is damaged, `limitsOf` tells so.
    return record === undefined ? this.#tenants.has(tenant) : record.createdAt === tenantCreatedAt;
  }

  /** Gives the secret, which is kept nowhere. */
  async createToken(token: NewToken): Promise<{ readonly token: string; readonly record: ListedToken }> {
    const tenantCreatedAt = await this.#tenantCreatedAt(token.tenant);
    // Whoever asks was let in as one of the tenant that was known until now.
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

  /** Never fails, and nobody needs to wait for it. */
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
    // One that was revoked meanwhile must not come back.
    if (this.#tokens.has(hash)) await this.#tokens.set(hash, { ...record, expiresAt });
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
      const before = (await this.#tenants.get(tenant)) ?? { ...noLimits, createdAt: await this.#findCreatedAt(tenant) };
      const after = { ...before, ...limits };
      await this.#tenants.set(tenant, after);
      this.#changed();
      return after;
    });
  }

  /** Of a tenant whose record is lost, as its last token has it, so that its tokens stay good. */
  async #findCreatedAt(tenant: Tenant): Promise<number> {
    const tokens = await this.listTokens(tenant);
    return tokens.at(-1)?.tenantCreatedAt ?? this.#now();
  }

  /** With its tokens and the shares with it; it must have no frames. */
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
    // From here on its tokens are refused, whether they are there or not.
    if (!(await this.#tenants.remove(tenant))) throw noSuchTenant(tenant);
    this.#changed();
    // A tenant that is made anew under the name is another one.
    await this.#removeTokens(await this.#tokenIndex.namesOf(tenant));
    const shares = parseShares(this.#shares.names);
    await this.#shares.removeAll(shares.filter(({ owner, reader }) => [owner, reader].includes(tenant)).map(shareName));
    this.#changed();
  }

  async #removeTokens(hashes: readonly string[]): Promise<void> {
    await this.#tokens.removeAll(hashes);
    for (const hash of hashes) await this.#uses.forget(hash.slice(0, idLength));
  }

  async share(share: Share, origin: string): Promise<void> {
    assertShareable(share);
    await this.#changes.run(async () => {
      if (!this.hasShare(share)) await this.#makeRoomForShare(share, origin);
      await this.#shares.set(shareName(share), { origin, createdAt: this.#now() });
    });
    this.#changed();
  }

  async #makeRoomForShare({ owner, handle }: Share, origin: string): Promise<void> {
    const shares = this.sharesOf(owner, handle);
    if (shares.length < mostShares) return;
    // Those of a frame that expired under the handle are good for nothing.
    const old: Share[] = [];
    for (const each of shares) {
      if ((await this.sharedOrigin(each)) !== origin) old.push(each);
    }
    await this.#shares.removeAll(old.map(shareName));
    if (shares.length - old.length < mostShares) return;
    throw new AppError('quota_exceeded', `${handle} is shared with ${mostShares} tenants already`, {
      hint: 'end a share that nobody needs',
    });
  }

  async unshare(share: Share): Promise<boolean> {
    const removed = await this.#shares.remove(shareName(share));
    this.#changed();
    return removed;
  }

  /** Of a frame that is gone. */
  async endShares(owner: Tenant, handle: Handle): Promise<void> {
    await this.#shares.refresh();
    const ended = this.sharesOf(owner, handle);
    if (ended.length === 0) return;
    await this.#shares.removeAll(ended.map(shareName));
    this.#changed();
  }

  /** Without a look at the disk. */
  hasShare(share: Share): boolean {
    return this.#shares.has(shareName(share));
  }

  /** The origin of the frame that is shared so. Only where there is a share, the disk may be read. */
  async sharedOrigin(share: Share): Promise<string | undefined> {
    return (await this.#shares.get(shareName(share)))?.origin;
  }

  sharesOf(owner: Tenant, handle: Handle): readonly Share[] {
    return this.#indexedShares().byFrame.get(sharedName(owner, handle)) ?? [];
  }

  sharesWith(reader: Tenant): readonly Share[] {
    return this.#indexedShares().byReader.get(reader) ?? [];
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #indexedShares(): SharesIndex {
    const { names } = this.#shares;
    if (this.#sharesIndex?.names !== names) this.#sharesIndex = indexShares(names);
    return this.#sharesIndex;
  }

  #changed(): void {
    for (const listener of this.#onChange) listener();
  }
}

export function noSuchTenant(tenant: string): AppError {
  return new AppError('not_found', `there is no tenant ${JSON.stringify(tenant.slice(0, 100))}`, {
    hint: 'framehold tenant create makes one',
  });
}

/** Without its record nobody knows what the tenant may use. */
function damagedTenant(tenant: string): AppError {
  return new AppError('auth_unavailable', `the record of the tenant ${tenant} cannot be read`, {
    hint: 'let the operator set its limits again',
  });
}

export const noLimits: Omit<TenantRecord, 'createdAt'> = {
  maxBytes: undefined,
  maxFrames: undefined,
  maxStatements: undefined,
  maxRate: undefined,
  engines: [],
};

function parseToken(value: unknown): TokenRecord | undefined {
  const { name, tenant, tenantCreatedAt, role, prefix, createdAt, expiresAt } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof role !== 'string' || !isRole(role) || typeof createdAt !== 'number')
    return undefined;
  if (tenant !== undefined && (typeof tenant !== 'string' || !isTenant(tenant))) return undefined;
  if ((tenant === undefined) !== (role === 'operator')) return undefined;
  if (!isOptional(prefix, 'string') || !isOptional(expiresAt, 'number')) return undefined;
  if (!isOptional(tenantCreatedAt, 'number')) return undefined;
  return { name, tenant, tenantCreatedAt, role, prefix, createdAt, expiresAt };
}

function parseTenantRecord(value: unknown): TenantRecord | undefined {
  const { createdAt, maxBytes, maxFrames, maxStatements, maxRate, engines } = value as Record<string, unknown>;
  if (typeof createdAt !== 'number' || !Array.isArray(engines) || !engines.every((each) => typeof each === 'string'))
    return undefined;
  if (!isOptional(maxBytes, 'number') || !isOptional(maxFrames, 'number')) return undefined;
  if (!isOptional(maxStatements, 'number') || !isOptional(maxRate, 'number')) return undefined;
  return { createdAt, maxBytes, maxFrames, maxStatements, maxRate, engines };
}

function parseShare(value: unknown): ShareRecord | undefined {
  const { origin, createdAt } = value as Record<string, unknown>;
  return typeof origin === 'string' && typeof createdAt === 'number' ? { origin, createdAt } : undefined;
}

function isOptional<Type extends 'string' | 'number'>(
  value: unknown,
  type: Type,
): value is (Type extends 'string' ? string : number) | undefined {
  return value === undefined || typeof value === type;
}
