/** After this many failures in a row a statement is not taken for short any more. */
const mostFailures = 3;

/** Whether a statement is expected to end almost at once. */
export class ShortStatement {
  #isShort = false;
  #failures = 0;

  get isShort(): boolean {
    return this.#isShort && this.#failures < mostFailures;
  }

  wasShort(): void {
    this.#isShort = true;
  }

  /** It was run as a short one. */
  ranAtOnce(hasEnded: boolean): void {
    this.#failures = hasEnded ? 0 : this.#failures + 1;
  }
}
