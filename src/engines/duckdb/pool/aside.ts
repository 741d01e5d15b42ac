/** Why the child of a job does not count among those that work: another one may work in its place. */
export type AsideReason =
  /** It waits for who reads its rows, or sends its input. */
  | 'reader'
  | 'sender'
  /** It works on something that takes long, in a place that tenants share. */
  | 'long'
  | 'suspended';

export class Aside {
  readonly #reasons = new Set<AsideReason>();
  readonly #onChange: (isAside: boolean) => void;
  #isOver = false;

  constructor(onChange: (isAside: boolean) => void) {
    this.#onChange = onChange;
  }

  get waitsForClient(): boolean {
    return this.#reasons.has('reader') || this.#reasons.has('sender');
  }

  add(reason: AsideReason): void {
    // Of a job that is over, the sender may still be waited for.
    if (this.#isOver || this.#reasons.has(reason)) return;
    this.#reasons.add(reason);
    if (this.#reasons.size === 1) this.#onChange(true);
  }

  delete(reason: AsideReason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#onChange(false);
  }

  /** The job is over. */
  end(): void {
    this.#isOver = true;
    for (const reason of this.#reasons) this.delete(reason);
  }
}
