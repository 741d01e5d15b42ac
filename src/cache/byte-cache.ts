/** A typed part of the cache; all parts share one budget. */
export interface CacheSpace<V> {
  get(versionId: string, key: string): V | undefined;
  /** Whether it is cached; does not count as a read. */
  has(versionId: string, key: string): boolean;
  /** False when the value is too large to keep. */
  set(versionId: string, key: string, value: V, bytes: number): boolean;
  delete(versionId: string, key: string): void;
}

interface Entry {
  readonly value: unknown;
  readonly bytes: number;
  readonly place: Place;
  reads: number;
  queue: 'small' | 'main';
}

/** The place of an entry, and its identity in the queues. One object for each key, so that queues need no long strings. */
interface Place {
  readonly versions: Map<string, Map<string, Entry>>;
  readonly versionId: string;
  readonly key: string;
}

const entryOverheadBytes = 256;
const mostReads = 3;

/**
 * Bytes ready to be sent, bounded by a budget.
 *
 * Evicts by S3-FIFO (Yang et al., SOSP 2023): new entries wait in a small queue (10 %), and only those read again before they
 * fall out of it reach the main one. A client that walks through a large frame touches each chunk about once, so it passes
 * through the small queue and hot entries stay; with LRU that one walk would flush everything.
 */
export class ByteCache {
  budgetBytes: number;
  /** Since the start. */
  hits = 0;
  misses = 0;
  /** Evicted entries. */
  evictions = 0;
  readonly #spaces: Map<string, Map<string, Entry>>[] = [];
  readonly #small = new Set<Entry>();
  readonly #main = new Set<Entry>();
  /** Keys that lately fell out of the small queue: if added again, they go to the main queue at once. */
  readonly #ghost = new Set<string>();
  readonly #onRemoved: (value: unknown) => void;
  #smallBytes = 0;
  #mainBytes = 0;

  /** `onRemoved`: called for each removed entry. */
  constructor(budgetBytes: number, onRemoved: (value: unknown) => void = () => {}) {
    this.budgetBytes = budgetBytes;
    this.#onRemoved = onRemoved;
  }

  resize(budgetBytes: number): void {
    this.budgetBytes = budgetBytes;
    while (this.usedBytes > budgetBytes) this.#evictOne();
  }

  /** Larger entries are not cached: one entry must not displace the rest. */
  get maxEntryBytes(): number {
    return Math.floor(this.budgetBytes / 8);
  }

  /** Whether the next entry evicts another. */
  get isFull(): boolean {
    return this.usedBytes > this.budgetBytes * 0.9;
  }

  get usedBytes(): number {
    return this.#smallBytes + this.#mainBytes;
  }

  get entries(): number {
    return this.#small.size + this.#main.size;
  }

  space<V>(): CacheSpace<V> {
    const versions = new Map<string, Map<string, Entry>>();
    const number = this.#spaces.push(versions);
    const get = (versionId: string, key: string): V | undefined => {
      const entry = versions.get(versionId)?.get(key);
      if (entry === undefined) {
        this.misses++;
        return undefined;
      }
      this.hits++;
      if (entry.reads < mostReads) entry.reads++;
      return entry.value as V;
    };
    const set = (versionId: string, key: string, value: V, bytes: number): boolean =>
      this.#keep({ versions, versionId, key }, `${number} ${versionId} ${key}`, value, bytes);
    return {
      get,
      set,
      delete: (versionId, key) => {
        const entry = versions.get(versionId)?.get(key);
        if (entry !== undefined) this.#remove(entry);
      },
      has: (versionId, key) => versions.get(versionId)?.has(key) ?? false,
    };
  }

  hasVersion(versionId: string): boolean {
    return this.#spaces.some((versions) => versions.has(versionId));
  }

  /** Bytes of a version's entries. */
  bytesOf(versionId: string): number {
    let bytes = 0;
    for (const versions of this.#spaces) {
      for (const entry of versions.get(versionId)?.values() ?? []) bytes += entry.bytes;
    }
    return bytes;
  }

  deleteVersion(versionId: string): void {
    for (const versions of this.#spaces) {
      for (const entry of [...(versions.get(versionId)?.values() ?? [])]) this.#remove(entry);
    }
  }

  #keep(place: Place, ghostKey: string, value: unknown, valueBytes: number): boolean {
    const bytes = valueBytes + entryOverheadBytes;
    const before = place.versions.get(place.versionId)?.get(place.key);
    if (before !== undefined) this.#remove(before);
    if (bytes > this.maxEntryBytes) return false;
    const returns = this.#ghost.delete(ghostKey);
    while (this.usedBytes + bytes > this.budgetBytes) this.#evictOne();
    const entry: Entry = { value, bytes, place, reads: 0, queue: returns ? 'main' : 'small' };
    this.#enqueue(entry);
    let keys = place.versions.get(place.versionId);
    if (keys === undefined) {
      keys = new Map();
      place.versions.set(place.versionId, keys);
    }
    keys.set(place.key, entry);
    return true;
  }

  #evictOne(): void {
    if (this.#smallBytes > this.budgetBytes / 10 || this.#main.size === 0) this.#evictFromSmall();
    else this.#evictFromMain();
  }

  #evictFromSmall(): void {
    for (const entry of this.#small) {
      if (entry.reads > 1) {
        this.#dequeue(entry);
        entry.reads = 0;
        entry.queue = 'main';
        this.#enqueue(entry);
        continue;
      }
      this.#remove(entry);
      this.#rememberGhost(entry);
      this.evictions++;
      return;
    }
  }

  #evictFromMain(): void {
    for (const entry of this.#main) {
      if (entry.reads === 0) {
        this.#remove(entry);
        this.evictions++;
        return;
      }
      entry.reads--;
      this.#dequeue(entry);
      this.#enqueue(entry);
    }
  }

  #enqueue(entry: Entry): void {
    if (entry.queue === 'small') {
      this.#small.add(entry);
      this.#smallBytes += entry.bytes;
    } else {
      this.#main.add(entry);
      this.#mainBytes += entry.bytes;
    }
  }

  #dequeue(entry: Entry): void {
    if (this.#small.delete(entry)) this.#smallBytes -= entry.bytes;
    if (this.#main.delete(entry)) this.#mainBytes -= entry.bytes;
  }

  #remove(entry: Entry): void {
    this.#dequeue(entry);
    const { versions, versionId, key } = entry.place;
    const keys = versions.get(versionId);
    keys?.delete(key);
    if (keys?.size === 0) versions.delete(versionId);
    this.#onRemoved(entry.value);
  }

  #rememberGhost({ place: { versions, versionId, key } }: Entry): void {
    this.#ghost.add(`${this.#spaces.indexOf(versions) + 1} ${versionId} ${key}`);
    for (const oldest of this.#ghost) {
      if (this.#ghost.size <= Math.max(64, this.entries)) break;
      this.#ghost.delete(oldest);
    }
  }
}
