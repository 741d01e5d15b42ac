import { link, unlink } from 'node:fs/promises';
import type { PartSource } from '../core/frame-engine.ts';
import { errnoOf } from './durable-file.ts';
import type { Part } from './part.ts';
import { sameIdentity } from './part.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** A part's file is no longer the one that its manifest names. Never leaves the store as it is. */
export class FileChanged extends Error {
  constructor(file: string) {
    super(`${file} was changed from outside`);
    this.name = 'FileChanged';
  }
}

/** A part in memory, with whether its bytes are known to be what was written. */
export interface HeldPart extends Part {
  readonly check: { passed: boolean };
}

interface Pin {
  readonly path: string;
  /** False when the path is the public one, which others may change. */
  readonly isLink: boolean;
}

/** Links of a tenant's parts under private names: what a reader began to read stays, whatever happens to the public name. */
export class Pins {
  readonly #directory: TenantDirectory;
  readonly #sets = new Set<PartSet>();
  readonly #unlinking = new Set<Promise<void>>();

  constructor(directory: TenantDirectory) {
    this.#directory = directory;
  }

  set(parts: readonly HeldPart[]): PartSet {
    return new PartSet(parts, this);
  }

  note(set: PartSet, pinned: boolean): void {
    if (pinned) this.#sets.add(set);
    else this.#sets.delete(set);
  }

  async pin(part: Part): Promise<Pin> {
    const path = this.#directory.newPinPath();
    try {
      await this.#directory.prepare();
      await link(this.#directory.path(part.file), path);
    } catch (error) {
      if (errnoOf(error) === 'EMFILE' || errnoOf(error) === 'ENFILE') throw error;
      // No hard links on this file system, or nothing may be written here: then reading goes by the public name.
      const pin = { path: this.#directory.path(part.file), isLink: false };
      await this.assertSame(part, pin);
      return pin;
    }
    const pin = { path, isLink: true };
    try {
      await this.assertSame(part, pin);
    } catch (error) {
      await unlink(path);
      throw error;
    }
    return pin;
  }

  async assertSame(part: Part, pin: Pin): Promise<void> {
    const found = await this.#directory.identify(pin.path);
    if (found === undefined || !sameIdentity(part, found)) throw new FileChanged(part.file);
  }

  unpin(pinning: Promise<readonly Pin[]>): Promise<void> {
    const work = (async () => {
      const pins = await pinning.catch(() => []);
      await Promise.allSettled(pins.filter((pin) => pin.isLink).map((pin) => unlink(pin.path)));
    })().finally(() => this.#unlinking.delete(work));
    this.#unlinking.add(work);
    return work;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const set of [...this.#sets]) set.dispose();
    await Promise.all(this.#unlinking);
  }
}

/** Repeated short reads shall not link and unlink each time. */
const lingerMs = 1000;
const pinsAtOnce = 32;

/** The files of one version, as long as somebody may read them. */
export class PartSet {
  readonly parts: readonly HeldPart[];
  readonly #pins: Pins;
  #users = 0;
  #pinned: Promise<readonly Pin[]> | undefined;
  #linger: NodeJS.Timeout | undefined;
  #retired = false;
  #isVerified = false;

  constructor(parts: readonly HeldPart[], pins: Pins) {
    this.parts = parts;
    this.#pins = pins;
  }

  get users(): number {
    return this.#users;
  }

  get isPinned(): boolean {
    return this.#pinned !== undefined;
  }

  get isVerified(): boolean {
    this.#isVerified ||= this.parts.every((part) => part.check.passed);
    return this.#isVerified;
  }

  acquire(): void {
    this.#users++;
    clearTimeout(this.#linger);
  }

  release(): void {
    this.#users--;
    if (this.#users === 0) this.#settle();
  }

  /** Where the parts can be read, unchanged, until `release`. Rejects with FileChanged when it is too late. */
  async sources(): Promise<readonly PartSource[]> {
    const pins = await this.#pin();
    const sources: PartSource[] = [];
    for (const [index, part] of this.parts.entries()) {
      const pin = pins[index];
      if (pin === undefined) throw new FileChanged(part.file);
      if (!pin.isLink) await this.#pins.assertSame(part, pin);
      sources.push({ path: pin.path, rows: part.rows });
    }
    return sources;
  }

  /** Before the public names go: keeps the parts for everybody who reads them now or begins to before `retire`. */
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

  /** The version that these parts made is no longer current. Those who still read it may. */
  async retire(): Promise<void> {
    this.#retired = true;
    if (this.#users > 0) await this.#pin().catch(() => {});
    this.#settle();
  }

  /** After `protect`, when the public names stayed after all. */
  spare(): void {
    this.#settle();
  }

  dispose(): void {
    clearTimeout(this.#linger);
    this.#unpin();
  }

  #pin(): Promise<readonly Pin[]> {
    if (this.#pinned === undefined) {
      const pinning = this.#pinAll();
      this.#pinned = pinning;
      this.#pins.note(this, true);
      pinning.catch(() => {
        if (this.#pinned !== pinning) return;
        this.#pinned = undefined;
        this.#pins.note(this, false);
      });
    }
    return this.#pinned;
  }

  async #pinAll(): Promise<readonly Pin[]> {
    const pins: Pin[] = [];
    for (let at = 0; at < this.parts.length; at += pinsAtOnce) {
      const group = this.parts.slice(at, at + pinsAtOnce);
      const results = await Promise.allSettled(group.map((part) => this.#pins.pin(part)));
      for (const result of results) if (result.status === 'fulfilled') pins.push(result.value);
      for (const result of results) {
        if (result.status === 'fulfilled') continue;
        await this.#pins.unpin(Promise.resolve(pins));
        throw result.reason;
      }
    }
    return pins;
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
    this.#pins.note(this, false);
    void this.#pins.unpin(pinned);
  }
}
