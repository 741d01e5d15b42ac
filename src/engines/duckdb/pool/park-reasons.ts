/** Why a child is parked: it does not count as working, so another child may start in its place. */
export type ParkReason =
  /** It waits for the reader of its rows, or for the sender of its input. */
  | 'reader'
  | 'sender'
  /** It works on something that takes long, in a place that tenants share. */
  | 'long'
  | 'suspended';

export class ParkReasons {
  readonly #reasons = new Set<ParkReason>();
  readonly #onChange: (isParked: boolean) => void;
  #isOver = false;

  constructor(onChange: (isParked: boolean) => void) {
    this.#onChange = onChange;
  }

  get waitsForClient(): boolean {
    return this.#reasons.has('reader') || this.#reasons.has('sender');
  }

  add(reason: ParkReason): void {
    // The job may be over while its sender is still waited for.
    if (this.#isOver || this.#reasons.has(reason)) return;
    this.#reasons.add(reason);
    if (this.#reasons.size === 1) this.#onChange(true);
  }

  delete(reason: ParkReason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#onChange(false);
  }

  /** The job is over. */
  end(): void {
    this.#isOver = true;
    for (const reason of this.#reasons) this.delete(reason);
  }
}
