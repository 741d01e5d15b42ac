import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultTenant } from '../../core/callers/principal.ts';
import type { Identity } from '../disk/part.ts';
import { identify } from '../disk/tenant-directory.ts';

/** Made last: a folder with it is a complete backup. */
export const listingName = 'backup.jsonl';

/** A file of a backup. */
export interface ListedFile {
  /** Relative to the backup. */
  readonly path: string;
  readonly size: number;
  readonly checksum: string;
  /** Time of the last change of its bytes, in the backup. */
  readonly mtimeNs: string;
  /** The file that it is a copy of, as it was then. Absent: it was made for the backup. */
  readonly source?: Identity;
}

export interface ListingHead {
  readonly kind: 'head';
  readonly listing: 1;
  readonly writtenBy: string;
  readonly begunAt: number;
}

/** Everything of a handle. */
export interface ListedFrame {
  readonly kind: 'frame';
  readonly tenant: string;
  readonly handle: string;
  readonly parts: readonly ListedFile[];
  /** Absent for a file from outside that no server has adopted yet, and for a dropped frame. */
  readonly manifest?: ListedFile | undefined;
  /** Logs, a tombstone. */
  readonly others: readonly ListedFile[];
}

/** Files that are no frames: the analytics database, access records, the format. */
export interface ListedFiles {
  readonly kind: 'analytics' | 'records';
  readonly files: readonly (ListedFile & { readonly mode?: number })[];
}

/** A frame that is missing in the backup. Without tenant and handle: no frame. */
export interface LeftOut {
  readonly tenant?: string | undefined;
  readonly handle?: string | undefined;
  readonly reason: string;
}

export interface ListingEnd {
  readonly kind: 'end';
  readonly frames: number;
  readonly bytes: number;
  /** Absent: nothing, the backup is complete. */
  readonly leftOut?: readonly LeftOut[];
  /** Checksum of everything before this line. */
  readonly checksum: string;
}

export type ListingLine = ListingHead | ListedFrame | ListedFiles | ListingEnd;

/** Writes a line for each frame, so that a listing of any length needs little memory. */
export class ListingWriter implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #hash = createHash('sha256');
  #isOpen = true;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string, head: Omit<ListingHead, 'kind' | 'listing'>): Promise<ListingWriter> {
    const writer = new ListingWriter(await open(path, 'wx'));
    await writer.add({ kind: 'head', listing: 1, ...head });
    return writer;
  }

  async add(line: ListingLine): Promise<void> {
    const text = `${JSON.stringify(line)}\n`;
    this.#hash.update(text);
    await this.#file.appendFile(text);
  }

  /** Durable when it resolves. */
  async end(figures: Omit<ListingEnd, 'kind' | 'checksum'>): Promise<void> {
    const checksum = `sha256:${this.#hash.copy().digest('hex')}`;
    await this.add({ kind: 'end', ...figures, checksum });
    await this.#file.sync();
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#file.close();
  }
}

/** The lines of a listing. Throws if a line cannot be read, and at the end if the listing is not as it was written. */
export async function* readListing(path: string): AsyncGenerator<ListingLine, void, undefined> {
  const hash = createHash('sha256');
  let end: ListingEnd | undefined;
  let isFirst = true;
  for await (const text of linesOf(path)) {
    if (end !== undefined) throw new Error('it goes on behind its end');
    const line = JSON.parse(text) as ListingLine;
    if (isFirst && (line.kind !== 'head' || line.listing !== 1)) throw new Error('it is of another kind');
    isFirst = false;
    if (line.kind === 'end') end = line;
    if (line.kind === 'end' && line.checksum !== `sha256:${hash.copy().digest('hex')}`) {
      throw new Error('its bytes are not those that were written');
    }
    hash.update(`${text}\n`);
    yield line;
  }
  if (end === undefined) throw new Error('it has no end');
}

async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  let rest: Buffer[] = [];
  for await (const block of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = block.indexOf(10); at >= 0; at = block.indexOf(10, from)) {
      yield Buffer.concat([...rest, block.subarray(from, at)]).toString();
      rest = [];
      from = at + 1;
    }
    if (from < block.length) rest.push(block.subarray(from));
  }
  if (rest.length > 0) throw new Error('its last line is cut off');
}

const tailBytes = 64 * 1024;

/** The last line alone. Undefined if it is missing or cannot be read. */
export async function readListingEnd(path: string): Promise<ListingEnd | undefined> {
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    for (let length = Math.min(tailBytes, size); ; length = Math.min(length * 4, size)) {
      const tail = Buffer.alloc(length);
      const { bytesRead } = await file.read(tail, 0, length, size - length);
      if (bytesRead < length || tail.at(-1) !== 10) return undefined;
      const newline = tail.lastIndexOf(10, -2);
      if (newline < 0 && length < size) continue;
      const line = JSON.parse(tail.toString('utf8', newline + 1)) as ListingLine;
      return line.kind === 'end' ? line : undefined;
    }
  } catch {
    return undefined;
  }
}

/** Whether a file of a backup is unchanged, as far as can be seen without reading it. */
export async function isAsListed(root: string, { path, size, mtimeNs }: ListedFile): Promise<boolean> {
  const found = await identify(join(root, path));
  return found !== undefined && found.size === size && found.mtimeNs === mtimeNs;
}

/** Tenants and handles in the order in which a backup has them. */
export function compareFrames(a: Pick<ListedFrame, 'tenant' | 'handle'>, b: typeof a): number {
  const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
  const place = (tenant: string): string => (tenant === defaultTenant ? '' : tenant);
  return order(place(a.tenant), place(b.tenant)) || order(a.handle, b.handle);
}

/** A walk through the listing of an earlier backup, beside one through the directory: both have the same order. */
export class ListingCursor {
  readonly root: string;
  readonly #lines: AsyncGenerator<ListingLine, void, undefined>;
  #next: ListingLine | undefined;

  private constructor(root: string, lines: AsyncGenerator<ListingLine, void, undefined>) {
    this.root = root;
    this.#lines = lines;
  }

  /** Undefined if the listing cannot be read: then nothing of that backup is reused. */
  static async open(root: string, path: string): Promise<ListingCursor | undefined> {
    const cursor = new ListingCursor(root, readListing(path));
    await cursor.#advance();
    return cursor.#next?.kind === 'head' ? cursor : undefined;
  }

  /** The lines before all frames. */
  async analytics(): Promise<ListedFiles | undefined> {
    while (this.#next?.kind === 'head') await this.#advance();
    return this.#next?.kind === 'analytics' ? this.#next : undefined;
  }

  async frame(wanted: Pick<ListedFrame, 'tenant' | 'handle'>): Promise<ListedFrame | undefined> {
    while (this.#next !== undefined && (this.#next.kind !== 'frame' || compareFrames(this.#next, wanted) < 0)) {
      await this.#advance();
    }
    return this.#next?.kind === 'frame' && compareFrames(this.#next, wanted) === 0 ? this.#next : undefined;
  }

  async #advance(): Promise<void> {
    try {
      const { value } = await this.#lines.next();
      this.#next = value ?? undefined;
    } catch {
      // The rest is copied anew.
      this.#next = undefined;
    }
  }

  async close(): Promise<void> {
    await this.#lines.return().catch(() => {});
  }
}
