import type { Semaphore } from '../core/async/semaphore.ts';
import { isTenant, type Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { type SharedName, sharedName } from '../core/names/frame-name.ts';
import { type Handle, isHandle } from '../core/names/handle.ts';
import type { DurableFiles } from '../frames/disk/durable-file.ts';
import { RecordFolder } from '../frames/disk/record-folder.ts';

/** A frame that its owner lets another tenant read. */
export interface Share {
  readonly owner: Tenant;
  readonly handle: Handle;
  readonly reader: Tenant;
}

interface ShareRecord {
  /** The origin of the shared frame: a frame made anew under its handle is another. */
  readonly origin: string;
  readonly createdAt: number;
}

export interface ShareRecordsOptions {
  readonly folder: string;
  readonly durable: DurableFiles;
  /** One change at a time: each begins with the result of the last. */
  readonly changes: Semaphore;
  readonly onChanged: () => void;
  readonly now: () => number;
}

/** For one frame. */
const mostShares = 1000;

/** The shares of one cold directory. */
export class ShareRecords {
  readonly #folder: RecordFolder<ShareRecord>;
  readonly #options: ShareRecordsOptions;
  #index: SharesIndex | undefined;

  constructor(options: ShareRecordsOptions) {
    this.#folder = new RecordFolder(options.folder, options.durable, parseShareRecord);
    this.#options = options;
  }

  /** Looks for changes of other processes. True where there were some. */
  refresh(): Promise<boolean> {
    return this.#folder.refresh();
  }

  async add(share: Share, origin: string): Promise<void> {
    const { changes, onChanged, now } = this.#options;
    assertShareable(share);
    await changes.run(async () => {
      if (!this.has(share)) await this.#makeRoom(share, origin);
      await this.#folder.set(shareName(share), { origin, createdAt: now() });
    });
    onChanged();
  }

  async #makeRoom({ owner, handle }: Share, origin: string): Promise<void> {
    const shares = this.ofFrame(owner, handle);
    if (shares.length < mostShares) return;
    // Those of a frame that expired under the handle are good for nothing.
    const old: Share[] = [];
    for (const each of shares) {
      if ((await this.originOf(each)) !== origin) old.push(each);
    }
    await this.#folder.removeAll(old.map(shareName));
    if (shares.length - old.length < mostShares) return;
    throw new AppError('quota_exceeded', `${handle} is shared with ${mostShares} tenants already`, {
      hint: 'end a share that nobody needs',
    });
  }

  /** False where there is none. */
  async remove(share: Share): Promise<boolean> {
    const removed = await this.#folder.remove(shareName(share));
    this.#options.onChanged();
    return removed;
  }

  /** Removes the shares of a removed frame. */
  async removeOfFrame(owner: Tenant, handle: Handle): Promise<void> {
    await this.#folder.refresh();
    await this.#removeAll(this.ofFrame(owner, handle));
  }

  /** Removes the shares of a removed tenant: those of its frames, and those with it. */
  async removeOfTenant(tenant: Tenant): Promise<void> {
    const shares = parseShares(this.#folder.names);
    await this.#removeAll(shares.filter(({ owner, reader }) => [owner, reader].includes(tenant)));
  }

  async #removeAll(shares: readonly Share[]): Promise<void> {
    if (shares.length === 0) return;
    await this.#folder.removeAll(shares.map(shareName));
    this.#options.onChanged();
  }

  /** Without a look at the disk. */
  has(share: Share): boolean {
    return this.#folder.has(shareName(share));
  }

  /** The origin of the frame that is shared so. Only where there is a share, the disk may be read. */
  async originOf(share: Share): Promise<string | undefined> {
    return (await this.#folder.get(shareName(share)))?.origin;
  }

  ofFrame(owner: Tenant, handle: Handle): readonly Share[] {
    return this.#indexed().byFrame.get(sharedName(owner, handle)) ?? [];
  }

  withReader(reader: Tenant): readonly Share[] {
    return this.#indexed().byReader.get(reader) ?? [];
  }

  #indexed(): SharesIndex {
    const { names } = this.#folder;
    if (this.#index?.names !== names) this.#index = indexShares(names);
    return this.#index;
  }
}

/** Shares by reader and by frame: a request costs the same for any number of others. */
interface SharesIndex {
  /** The names from which it was made. */
  readonly names: ReadonlySet<string>;
  readonly byReader: ReadonlyMap<Tenant, readonly Share[]>;
  readonly byFrame: ReadonlyMap<SharedName, readonly Share[]>;
}

/** `+` stands in neither names of tenants nor handles. */
export function shareName({ owner, handle, reader }: Share): string {
  return `${owner}+${handle}+${reader}`;
}

/** Names of files have 255 bytes at most, with the ending of the record. */
const longestShareName = 250;

/** Refuses the longest handles between tenants with the longest names. */
function assertShareable(share: Share): void {
  const { length } = shareName(share);
  if (length <= longestShareName) return;
  throw new AppError(
    'invalid_parameter',
    `the handle and the names of both tenants have ${length - 2} characters together; a share has at most ${longestShareName - 2}`,
    { hint: 'share a frame with a shorter handle' },
  );
}

function parseShareName(name: string): Share | undefined {
  const [owner = '', handle = '', reader = ''] = name.split('+');
  return isTenant(owner) && isHandle(handle) && isTenant(reader) ? { owner, handle, reader } : undefined;
}

function parseShares(names: Iterable<string>): Share[] {
  return [...names].flatMap((name) => parseShareName(name) ?? []);
}

function indexShares(names: ReadonlySet<string>): SharesIndex {
  const byReader = new Map<Tenant, Share[]>();
  const byFrame = new Map<SharedName, Share[]>();
  for (const share of parseShares(names)) {
    listIn(byReader, share.reader).push(share);
    listIn(byFrame, sharedName(share.owner, share.handle)).push(share);
  }
  return { names, byReader, byFrame };
}

function listIn<Key>(lists: Map<Key, Share[]>, key: Key): Share[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function parseShareRecord(value: unknown): ShareRecord | undefined {
  const { origin, createdAt } = value as Record<string, unknown>;
  return typeof origin === 'string' && typeof createdAt === 'number' ? { origin, createdAt } : undefined;
}
