import { link, lstat, open, unlink } from 'node:fs/promises';
import type { Tenant } from '../../core/callers/principal.ts';
import { errnoOf } from '../../core/errors/storage-error.ts';
import type { PartSource } from '../../core/rows/frame-engine.ts';
import { identityOf, type Part, sameIdentity } from './part.ts';
import type { PartCheck } from './part-check.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** The file of a part is not the one in its manifest any more. Never leaves the store. */
export class FileChanged extends Error {
  constructor(file: string) {
    super(`${file} was changed from outside`);
    this.name = 'FileChanged';
  }
}

/** A part in memory, with whether its bytes are known to be as written. */
export interface HeldPart extends Part {
  readonly check: PartCheck;
}

interface Pin {
  readonly part: HeldPart;
  readonly path: string;
  /** False when the path is the public one, which others may change. */
  readonly isLink: boolean;
  /** The public name is a symbolic link, and so is this one. */
  readonly isElsewhere: boolean;
}

/** Links of a tenant's parts under private names: a reader's files stay, whatever happens to the public names. */
export class PartLinks {
  readonly #directory: TenantDirectory;
  readonly #isAsWritten: (part: Part, path: string) => Promise<boolean>;
  readonly #hasPeers: () => boolean;
  readonly #directoryOf: (tenant: Tenant) => TenantDirectory;
  readonly #sets = new Set<PinnedParts>();
  readonly #unlinking = new Set<Promise<void>>();

  constructor(
    directory: TenantDirectory,
    isAsWritten: (part: Part, path: string) => Promise<boolean>,
    hasPeers: () => boolean,
    directoryOf: (tenant: Tenant) => TenantDirectory,
  ) {
    this.#directory = directory;
    this.#isAsWritten = isAsWritten;
    this.#hasPeers = hasPeers;
    this.#directoryOf = directoryOf;
  }

  set(parts: readonly HeldPart[]): PinnedParts {
    return new PinnedParts(parts, this);
  }

  note(set: PinnedParts, pinned: boolean): void {
    if (pinned) this.#sets.add(set);
    else this.#sets.delete(set);
  }

  async pin(part: HeldPart): Promise<Pin> {
    const publicPath = this.#directory.path(part.file);
    const path = this.#directory.newPinPath();
    try {
      await this.#directory.prepare();
      await part.check.through(this.#changeTime(publicPath), () => link(publicPath, path), this.#changeTime(path));
    } catch (error) {
      if (errnoOf(error) === 'EMFILE' || errnoOf(error) === 'ENFILE') throw error;
      // No hard links on this file system, or it cannot be written: then the public name is read.
      const pin = { part, path: publicPath, isLink: false, isElsewhere: false };
      await part.check.through(this.#changeTime(publicPath), async () => {}, this.#changeTime(publicPath));
      await this.#assertSame(pin);
      return pin;
    }
    const isElsewhere = await isSymbolicLink(path);
    const pin = { part, path, isLink: true, isElsewhere };
    try {
      await this.#assertSame(pin);
    } catch (error) {
      await unlink(path);
      throw error;
    }
    return pin;
  }

  isOwn(tenant: Tenant): boolean {
    return tenant === this.#directory.tenant;
  }

  /** The same file in the folder of another tenant that reads it. Where it cannot be linked, by the name that it has. */
  async pinFor(reader: Tenant, pin: Pin): Promise<Pin> {
    if (!pin.isLink) return pin;
    const { part } = pin;
    const directory = this.#directoryOf(reader);
    const path = directory.newPinPath();
    try {
      await directory.prepare();
      await part.check.through(this.#changeTime(pin.path), () => link(pin.path, path), this.#changeTime(path));
    } catch (error) {
      if (errnoOf(error) === 'EMFILE' || errnoOf(error) === 'ENFILE') throw error;
      return { ...pin, isLink: false };
    }
    return { ...pin, path };
  }

  /** Rejects with FileChanged if the bytes are no longer those of the part. */
  async assertUnchanged(pin: Pin, { isRetired }: { readonly isRetired: boolean }): Promise<void> {
    const { part, path } = pin;
    const changedNs = await this.#assertSame(pin);
    // The names of a retired version go, which changes its inodes.
    if (isRetired || part.check.isAsKnown(changedNs)) return;
    // The links of other servers change it all the time, and to read whole files for that each time is too much.
    if (this.#hasPeers()) return part.check.note(this.#changeTime(path));
    await part.check.renew(this.#changeTime(path), () => this.#isAsWritten(part, path));
    if (!part.check.passed) throw new FileChanged(part.file);
  }

  /** Must be called when no change of the file's inode by this process is pending. */
  async noteWritten(parts: readonly HeldPart[]): Promise<void> {
    for (const part of parts) await part.check.note(this.#changeTime(this.#directory.path(part.file)));
  }

  /** Whether the file under the public name has been left alone since its bytes were last known. */
  async isUntouched(part: HeldPart): Promise<boolean> {
    const stats = await this.#directory.stats(this.#directory.path(part.file));
    return stats !== undefined && part.check.passed && part.check.isAsKnown(stats.ctimeNs);
  }

  unpin(pinning: Promise<readonly Pin[]>): Promise<void> {
    const work = (async () => {
      const partLinks = await pinning.catch(() => []);
      await Promise.allSettled(partLinks.filter((pin) => pin.isLink).map((pin) => this.#unlink(pin)));
    })().finally(() => this.#unlinking.delete(work));
    this.#unlinking.add(work);
    return work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const set of [...this.#sets]) set.dispose();
    await Promise.all(this.#unlinking);
  }

  async #unlink({ part, path }: Pin): Promise<void> {
    // By now the part may have another public name, or none, so its inode is looked at by descriptor.
    const file = part.checksum === null ? undefined : await open(path, 'r').catch(() => undefined);
    if (file === undefined) return unlink(path);
    try {
      const changeTime = async () => (await file.stat({ bigint: true })).ctimeNs;
      await part.check.through(changeTime, () => unlink(path), changeTime);
    } finally {
      await file.close();
    }
  }

  /** Gives the time of the inode's last change. */
  async #assertSame({ part, path }: Pin): Promise<bigint> {
    const stats = await this.#directory.stats(path);
    if (stats === undefined || !sameIdentity(part, identityOf(stats))) throw new FileChanged(part.file);
    return stats.ctimeNs;
  }

  #changeTime(path: string): () => Promise<bigint | undefined> {
    return async () => (await this.#directory.stats(path))?.ctimeNs;
  }
}

/** Repeated short reads shall not link and unlink each time. */
const lingerMs = 1000;
const pinsAtOnce = 32;

/** The files of one version, as long as somebody may read them. */
export class PinnedParts {
  readonly parts: readonly HeldPart[];
  readonly #partLinks: PartLinks;
  #users = 0;
  #pinned: Promise<readonly Pin[]> | undefined;
  /** Those of other tenants that read them. */
  readonly #pinnedFor = new Map<Tenant, Promise<readonly Pin[]>>();
  #linger: NodeJS.Timeout | undefined;
  #retired = false;

  constructor(parts: readonly HeldPart[], partLinks: PartLinks) {
    this.parts = parts;
    this.#partLinks = partLinks;
  }

  get users(): number {
    return this.#users;
  }

  get isVerified(): boolean {
    return this.parts.every((part) => part.check.passed);
  }

  acquire(): void {
    this.#users++;
    clearTimeout(this.#linger);
  }

  release(): void {
    this.#users--;
    if (this.#users === 0) this.#settle();
  }

  /**
   * Paths of the parts, unchanged until `release`. Rejects with FileChanged if it is too late. `reader`: the tenant whose folder
   * gets the links. Default: the tenant of the parts.
   */
  async sources(reader?: Tenant): Promise<readonly PartSource[]> {
    const partLinks = await this.#pin();
    const unverified = this.parts.find((part) => !part.check.passed);
    if (unverified !== undefined) throw new FileChanged(unverified.file);
    await Promise.all(partLinks.map((pin) => this.#partLinks.assertUnchanged(pin, { isRetired: this.#retired })));
    const isOwn = reader === undefined || this.#partLinks.isOwn(reader);
    const found = isOwn ? partLinks : await this.#pinFor(reader, partLinks);
    return found.map((pin) => ({ ...sourceOf(pin), ...(pin.isElsewhere && { isElsewhere: true }) }));
  }

  /** The same for a caller that is about to verify the bytes. */
  async unverifiedSources(): Promise<readonly PartSource[]> {
    return (await this.#pin()).map(sourceOf);
  }

  /** Before the public names go: keeps the parts for present readers and for those that begin before `retire`. */
  async protect(): Promise<void> {
    this.acquire();
    try {
      await this.#pin();
    } catch (error) {
      if (!(error instanceof FileChanged)) throw error;
    } finally {
      this.#users--;
    }
  }

  /** The version of these parts is no longer current. Its present readers keep them. */
  async retire(): Promise<void> {
    this.#retired = true;
    if (this.#users > 0) await this.#pin().catch(() => {});
    this.#settle();
  }

  /** After `protect`, when the public names stayed after all. */
  unprotect(): void {
    this.#settle();
  }

  dispose(): void {
    clearTimeout(this.#linger);
    this.#unpin();
  }

  #pin(): Promise<readonly Pin[]> {
    if (this.#pinned === undefined) {
      const pinning = inGroups(this.parts, (part) => this.#partLinks.pin(part), this.#partLinks);
      this.#pinned = pinning;
      this.#partLinks.note(this, true);
      pinning.catch(() => {
        if (this.#pinned !== pinning) return;
        this.#pinned = undefined;
        this.#partLinks.note(this, false);
      });
    }
    return this.#pinned;
  }

  #pinFor(reader: Tenant, pins: readonly Pin[]): Promise<readonly Pin[]> {
    const known = this.#pinnedFor.get(reader);
    if (known !== undefined) return known;
    const pinning = inGroups(pins, (pin) => this.#partLinks.pinFor(reader, pin), this.#partLinks);
    this.#pinnedFor.set(reader, pinning);
    pinning.catch(() => this.#pinnedFor.delete(reader));
    return pinning;
  }

  #settle(): void {
    clearTimeout(this.#linger);
    if (this.#users > 0 || this.#pinned === undefined) return;
    if (this.#retired) this.#unpin();
    else this.#linger = setTimeout(() => this.#unpin(), lingerMs).unref();
  }

  #unpin(): void {
    const pinned = this.#pinned;
    if (pinned === undefined) return;
    this.#pinned = undefined;
    this.#partLinks.note(this, false);
    void this.#partLinks.unpin(pinned);
    for (const others of this.#pinnedFor.values()) void this.#partLinks.unpin(others);
    this.#pinnedFor.clear();
  }
}

function sourceOf({ path, part: { rows, columnCount, isFreeOfNan } }: Pin): PartSource {
  return { path, rows, ...(columnCount !== undefined && { columnCount }), ...(isFreeOfNan && { isFreeOfNan }) };
}

/** All of them, or none. */
async function inGroups<T>(
  all: readonly T[],
  pin: (one: T) => Promise<Pin>,
  partLinks: PartLinks,
): Promise<readonly Pin[]> {
  const pins: Pin[] = [];
  for (let at = 0; at < all.length; at += pinsAtOnce) {
    const results = await Promise.allSettled(all.slice(at, at + pinsAtOnce).map(pin));
    for (const result of results) if (result.status === 'fulfilled') pins.push(result.value);
    for (const result of results) {
      if (result.status === 'fulfilled') continue;
      await partLinks.unpin(Promise.resolve(pins));
      throw result.reason;
    }
  }
  return pins;
}

async function isSymbolicLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
}
