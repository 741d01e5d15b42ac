interface Entry<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** A bounded map. It evicts the least recently used entries, but never the newest. */
export class LruMap<Value> {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxEntries = 1000, maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: Value, bytes = 0): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      const isTooMuch = this.size > this.#maxEntries || this.#bytes > this.#maxBytes;
      if (!isTooMuch || this.size === 1) return;
      this.delete(oldest);
    }
  }

  delete(key: string): boolean {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    return this.#entries.delete(key);
  }

  deleteOldest(): void {
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.delete(oldest);
  }

  /** Drops the least recently used entries, up to the first that does not match. */
  deleteOldestWhile(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) {
      if (!matches(value)) return;
      this.delete(key);
    }
  }
}
