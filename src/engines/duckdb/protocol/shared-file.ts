import { closeSync, existsSync, openSync, readSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeMemory } from '@framehold/columns';
import { randomBase32 } from '../../../core/names/handle.ts';

/** The child's descriptor of the file. */
export const sharedDescriptor = 5;

/** Each slot holds one message. Rows leave the child in pieces of about 1 MiB. */
export const slotBytes = 2 * 1024 * 1024;
export const slotCount = 8;

/**
 * Memory that a child and its parent share, as a file without a name. Through a pipe a megabyte takes sixteen reads, each
 * into a buffer of its own that is copied again; from here it is one.
 */
export class SharedFile implements Disposable {
  readonly descriptor: number;
  #isOpen = true;

  private constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  /** Undefined if no such file can be made: then everything goes through the pipe. */
  static open(): SharedFile | undefined {
    const memory = '/dev/shm';
    const path = join(existsSync(memory) ? memory : tmpdir(), `framehold-${process.pid}-${randomBase32(16)}`);
    try {
      const descriptor = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
      return new SharedFile(descriptor);
    } catch {
      return undefined;
    }
  }

  /** The message in a slot, in memory of its own. */
  read(slot: number, bytes: number): Buffer {
    if (!this.#isOpen) throw new Error('the shared file is closed');
    const payload = Buffer.from(takeMemory(bytes), 0, bytes);
    let filled = 0;
    while (filled < bytes) {
      const read = readSync(this.descriptor, payload, filled, bytes - filled, slot * slotBytes + filled);
      if (read === 0) throw new Error('the shared file is shorter than its message');
      filled += read;
    }
    return payload;
  }

  [Symbol.dispose](): void {
    if (this.#isOpen) closeSync(this.descriptor);
    this.#isOpen = false;
  }
}
