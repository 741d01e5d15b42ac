import type { FileHandle } from 'node:fs/promises';

const writtenBytes = 1024 * 1024;

/** Lines on their way to a file, many at a time. */
export class LineWriter {
  readonly #file: FileHandle;
  #bytes = Buffer.allocUnsafeSlow(writtenBytes);
  #filled = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Whether it is time to flush. */
  add(line: Uint8Array): boolean {
    const end = this.#filled + line.length + 1;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(end * 2);
      larger.set(this.#bytes.subarray(0, this.#filled));
      this.#bytes = larger;
    }
    this.#bytes.set(line, this.#filled);
    this.#bytes[end - 1] = 10;
    this.#filled = end;
    return end >= writtenBytes / 2;
  }

  async flush(): Promise<void> {
    const { buffer } = await this.#file.write(this.#bytes, 0, this.#filled);
    this.#bytes = buffer;
    this.#filled = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}
