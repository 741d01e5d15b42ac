import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors/storage-error.ts';
import { randomBase32 } from '../../core/names/handle.ts';
import { parseChecksummed, withChecksum } from './checksummed-json.ts';
import { type DurableFiles, storage } from './durable-file.ts';

const suffix = '.json';
/** Modification times have the resolution of the kernel's clock: after this delay a changed folder is read once more. */
const settleMs = 100;

/**
 * Small records, a file each, that several processes read and change: a new record appears by a link, a changed one replaces the
 * file, a removed one is unlinked, so none needs a lock. Only the names are in memory; a record is read on demand.
 */
export class RecordFolder<Value> {
  readonly #path: string;
  readonly #durable: DurableFiles;
  readonly #parse: (value: unknown) => Value | undefined;
  #names = new Set<string>();
  #values = new Map<string, Promise<Value | undefined>>();
  #changedAt: bigint | undefined;
  #listedAt = 0;
  #isSettled = true;
  #listings = 0;
  #listed = 0;

  constructor(path: string, durable: DurableFiles, parse: (value: unknown) => Value | undefined) {
    this.#path = path;
    this.#durable = durable;
    this.#parse = parse;
  }

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Undefined where there is none, or where its file is damaged. */
  async get(name: string): Promise<Value | undefined> {
    if (!this.#names.has(name)) return undefined;
    let value = this.#values.get(name);
    if (value === undefined) {
      value = this.#read(name);
      this.#values.set(name, value);
      value.catch(() => this.#values.delete(name));
    }
    return value;
  }

  /** Looks for changes of other processes. True where there were some. */
  async refresh(): Promise<boolean> {
    const changedAt = await changeTime(this.#path);
    const isSame = changedAt === this.#changedAt;
    if (isSame && (this.#isSettled || performance.now() - this.#listedAt < settleMs)) return false;
    await this.#list(changedAt, isSame);
    return true;
  }

  /** The same without trust in the modification time: for callers that are about to change the records. */
  async reread(): Promise<void> {
    await this.#list(await changeTime(this.#path));
  }

  /** False where there is one of this name. */
  async add(name: string, value: Value): Promise<boolean> {
    return this.#write(value, (from) => this.#durable.linkNew(from, this.#pathOf(name)));
  }

  async set(name: string, value: Value): Promise<void> {
    await this.#write(value, async (from) => {
      await this.#durable.rename(from, this.#pathOf(name));
      return true;
    });
  }

  /** False if the record is gone: one that another process removes meanwhile does not come back. */
  async replace(name: string, value: Value): Promise<boolean> {
    const path = this.#pathOf(name);
    const place = async (from: string): Promise<boolean> => {
      if ((await changeTime(path)) === undefined) return false;
      try {
        await this.#durable.rename(from, path);
        return true;
      } catch (error) {
        // A removal of a record also removes its replacement.
        if (errnoOf(error) === 'ENOENT') return false;
        throw error;
      }
    };
    return this.#write(value, place, `.${name}`);
  }

  /** False where there is none. */
  async remove(name: string): Promise<boolean> {
    await this.refresh();
    if (!this.#names.has(name)) return false;
    await this.removeAll([name]);
    return true;
  }

  /** Looks at the folder once for all of them. */
  async removeAll(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const unlink = async (): Promise<void> => {
      for (const name of names) await this.#durable.remove(this.#pathOf(name));
    };
    await unlink();
    const removed = new Set(names.flatMap((name) => [name, `.${name}`]));
    const replacing = (await storage(() => readdir(this.#path))).filter((file) => removed.has(withoutEnding(file)));
    if (replacing.length > 0) {
      for (const file of replacing) await this.#durable.remove(join(this.#path, file));
      await unlink();
    }
    await this.#durable.syncDirectory(this.#path);
    await this.reread();
  }

  async #write(value: Value, place: (from: string) => Promise<boolean>, prefix = ''): Promise<boolean> {
    await this.#durable.makeFolder(this.#path);
    const temporary = join(this.#path, `${prefix}.${randomBase32(16)}`);
    try {
      await this.#durable.writeFile(temporary, withChecksum(value));
      if (!(await place(temporary))) return false;
      await this.#durable.syncDirectory(this.#path);
    } finally {
      await rm(temporary, { force: true });
    }
    await this.reread();
    return true;
  }

  async #list(changedAt: bigint | undefined, isSettled = false): Promise<void> {
    const listing = ++this.#listings;
    const names = changedAt === undefined ? [] : await storage(() => readdir(this.#path));
    // A listing that was begun later is newer.
    if (listing < this.#listed) return;
    this.#listed = listing;
    this.#changedAt = changedAt;
    this.#isSettled = isSettled;
    this.#listedAt = performance.now();
    this.#names = new Set(
      names
        .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
        .map((name) => name.slice(0, -suffix.length)),
    );
    this.#values = new Map();
  }

  async #read(name: string): Promise<Value | undefined> {
    const names = this.#names;
    try {
      const value = parseChecksummed(await readFile(this.#pathOf(name), 'utf8'));
      return value === undefined ? undefined : this.#parse(value);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      // Another process has removed it since.
      names.delete(name);
      return undefined;
    }
  }

  #pathOf(name: string): string {
    return join(this.#path, `${name}${suffix}`);
  }
}

function withoutEnding(file: string): string {
  return file.slice(0, file.lastIndexOf('.'));
}

async function changeTime(path: string): Promise<bigint | undefined> {
  try {
    return (await stat(path, { bigint: true })).mtimeNs;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** For parsers of records. */
export function isOptional<Type extends 'string' | 'number'>(
  value: unknown,
  type: Type,
): value is (Type extends 'string' ? string : number) | undefined {
  return value === undefined || typeof value === type;
}
