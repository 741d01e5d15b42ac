type ChangeTime = () => Promise<bigint | undefined>;

/**
 * Whether the bytes of a file are known to be as written, and as of when. A process that changes a file can set its modification
 * time back, but not the change time of its inode. Our own links change that too: they are recorded.
 */
export class PartCheck {
  passed: boolean;
  readonly #isNeeded: boolean;
  /** The inode's time of change when the bytes were last known. */
  #knownNs: bigint | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** Without a checksum there is nothing to check. */
  constructor({ checksum }: { readonly checksum: string | null }, { passed = checksum === null } = {}) {
    this.#isNeeded = checksum !== null;
    this.passed = passed;
  }

  isAsKnown(changedNs: bigint): boolean {
    return !this.#isNeeded || changedNs === this.#knownNs;
  }

  /** Right after we wrote the file. */
  async note(changedNs: ChangeTime): Promise<void> {
    if (!this.#isNeeded) return;
    await this.#inTurn(async () => {
      this.#knownNs = await changedNs();
    });
  }

  /** Does something of ours that changes the inode, but not the bytes. */
  async through(before: ChangeTime, change: () => Promise<void>, after: ChangeTime): Promise<void> {
    if (!this.#isNeeded) return change();
    await this.#inTurn(async () => {
      const isKnown = !this.passed || (this.#knownNs !== undefined && (await before()) === this.#knownNs);
      await change();
      if (isKnown) this.#knownNs = await after();
    });
  }

  /** Has the bytes checked again if another process has changed the inode. */
  async renew(changedNs: ChangeTime, isAsWritten: () => Promise<boolean>): Promise<void> {
    await this.#inTurn(async () => {
      const nowNs = await changedNs();
      if (!this.passed || (nowNs !== undefined && this.isAsKnown(nowNs))) return;
      this.passed = await isAsWritten();
      this.#knownNs = nowNs;
    });
  }

  #inTurn(task: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(task);
    this.#turn = done.catch(() => {});
    return done;
  }
}
