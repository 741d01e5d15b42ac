/** Takes a cancel to its job. The two have different channels, so that a cancel may arrive before its job. */
export class JobCancels {
  #current: { readonly turn: number; readonly cancel: () => void } | undefined;
  #early: number | undefined;

  /** Turns are counted modulo 256. */
  begin(turn: number, cancel: () => void): void {
    this.#current = { turn: turn & 255, cancel };
    const isCancelled = this.#early === this.#current.turn;
    this.#early = undefined;
    if (isCancelled) cancel();
  }

  /** A job that is over before a cancel could be heard. */
  pass(): void {
    this.#early = undefined;
  }

  end(): void {
    this.#current = undefined;
  }

  /** A cancel that arrives too late is forgotten with the next job. */
  cancel(turn: number): void {
    if (this.#current?.turn === (turn & 255)) this.#current.cancel();
    else this.#early = turn & 255;
  }
}
