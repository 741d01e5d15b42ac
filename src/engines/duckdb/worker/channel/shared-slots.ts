import { writevSync } from 'node:fs';
import { sharedDescriptor, slotBytes, slotCount } from '../../protocol/shared-file.ts';

/** The slots of the shared file, as the child fills them. The parent says when it has emptied one. */
export class SharedSlots {
  readonly #free = Array.from({ length: slotCount }, (_, slot) => slot);
  #wake = (): void => {};

  /** Puts a message into a slot as soon as one is free, and gives its number; undefined when there is no room for it. */
  async put(pieces: readonly Uint8Array[]): Promise<number | undefined> {
    while (this.#free.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const slot = this.#free.pop() as number;
    try {
      let at = slot * slotBytes;
      // The system takes at most 1024 pieces at once.
      for (let from = 0; from < pieces.length; from += 1000) {
        at += writeAll(pieces.slice(from, from + 1000), at);
      }
      return slot;
    } catch {
      // A container's /dev/shm may be small.
      this.release(slot);
      return undefined;
    }
  }

  release(slot: number): void {
    this.#free.push(slot);
    this.#wake();
  }
}

function writeAll(pieces: readonly Uint8Array[], position: number): number {
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const written = writevSync(sharedDescriptor, pieces, position);
  if (written !== bytes) throw new Error(`the shared file took ${written} of ${bytes} bytes`);
  return bytes;
}
