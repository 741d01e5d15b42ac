import { readFileSync } from 'node:fs';

/** How many bytes a process writes to disk. One that runs SQL can write nothing but what it spills. */
export class WrittenBytes {
  readonly #pid: number;
  #known = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Those since the last call. 0 where the kernel does not tell. */
  take(): number {
    try {
      const told = /^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${this.#pid}/io`, 'latin1'))?.[1];
      const before = this.#known;
      this.#known = Math.max(before, Number(told ?? 0));
      return this.#known - before;
    } catch {
      return 0;
    }
  }
}
