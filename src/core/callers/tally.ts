/** A count for each key. */
export class Tally<Key> {
  readonly #counts = new Map<Key, number>();

  /** Returns the new count. */
  add(key: Key): number {
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  remove(key: Key): void {
    const left = (this.#counts.get(key) ?? 1) - 1;
    if (left > 0) this.#counts.set(key, left);
    else this.#counts.delete(key);
  }
}
