/** What was acquired, released in reverse order. (AsyncDisposableStack is not in Node 20 and 22.) */
export class Cleanup implements AsyncDisposable {
  readonly #releases: (() => unknown)[] = [];

  /** Gives what `open` gives. Disposing of it releases everything that `open` used; so does a failure half-way. */
  static async scope<T extends object>(open: (cleanup: Cleanup) => Promise<T>): Promise<T & AsyncDisposable> {
    const cleanup = new Cleanup();
    const dispose = (): Promise<void> => cleanup[Symbol.asyncDispose]();
    try {
      return { ...(await open(cleanup)), [Symbol.asyncDispose]: dispose };
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  use<T extends AsyncDisposable>(resource: T): T {
    this.#releases.push(() => resource[Symbol.asyncDispose]());
    return resource;
  }

  defer(release: () => unknown): void {
    this.#releases.push(release);
  }

  /** Every release runs, also when one before it fails; the first failure is thrown at the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (let release = this.#releases.pop(); release !== undefined; release = this.#releases.pop()) {
      try {
        await release();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
