/** A queue in which lanes take turns, so that one busy client does not hold up the others. */
export class FairQueue<T> {
  readonly #lanes = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(lane: string, item: T): void {
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) this.#lanes.set(lane, [item]);
    else waiting.push(item);
    this.#size++;
  }

  /** The next item of the lane whose turn it is; that lane goes to the end. */
  shift(): T | undefined {
    for (const [lane, waiting] of this.#lanes) {
      const item = waiting.shift();
      this.#lanes.delete(lane);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      this.#size--;
      return item;
    }
    return undefined;
  }

  remove(lane: string, item: T): boolean {
    const waiting = this.#lanes.get(lane);
    const index = waiting?.indexOf(item) ?? -1;
    if (waiting === undefined || index < 0) return false;
    waiting.splice(index, 1);
    if (waiting.length === 0) this.#lanes.delete(lane);
    this.#size--;
    return true;
  }
}
