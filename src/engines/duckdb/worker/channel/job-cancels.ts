/** Takes a cancel to the job that it means. They come on different channels, so that it may be here before its job. */
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

  /** One that comes too late is forgotten with the next job. */
  cancel(turn: number): void {
    if (this.#current?.turn === (turn & 255)) this.#current.cancel();
    else this.#early = turn & 255;
  }
}
