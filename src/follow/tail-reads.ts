import type { Column } from '@framehold/columns';
import { LruMap } from '../core/system/lru-map.ts';
import type { SentRows } from '../frames/read/row-slices.ts';

/** The last rows of a frame, encoded. */
export interface TailRows {
  readonly columns: readonly Column[];
  readonly pieces: readonly SentRows[];
}

const mostTails = 64;
/** Larger ones are shared only while they are read. */
const mostKeptBytes = 64 * 1024;

/** New rows that all followers of a frame want at the same moment are read and encoded once. */
export class TailReads implements Disposable {
  readonly #reads = new LruMap<Promise<TailRows>>(mostTails);
  readonly #controller = new AbortController();

  /** `read` goes on when its first caller has left. */
  get(key: string, read: (signal: AbortSignal) => Promise<TailRows>): Promise<TailRows> {
    const known = this.#reads.get(key);
    if (known !== undefined) return known;
    const tail = read(this.#controller.signal);
    this.#reads.set(key, tail);
    const forget = (): void => {
      if (this.#reads.get(key) === tail) this.#reads.delete(key);
    };
    tail.then(({ pieces }) => {
      const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
      if (bytes > mostKeptBytes) forget();
    }, forget);
    return tail;
  }

  [Symbol.dispose](): void {
    this.#controller.abort();
  }
}
