import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const lookMs = 1000;
const leastGarbageBytes = 192 * 1024 * 1024;
/** Less may be garbage as well once nothing more is allocated. After this time it is looked at, and later each time where it was none. */
const firstDoubtMs = 3000;
const longestDoubtMs = 5 * 60_000;

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>;

/**
 * Collects garbage before it is large. The program lets its heap grow elevenfold before V8 collects (`main.ts`), so that streams
 * cost no collection every few megabytes; but then what attackers or large bodies left behind would stay for as long.
 */
export class GarbageWatch implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #collect: Collect;
  #isCollecting = false;
  #mostBytes = Number.POSITIVE_INFINITY;
  #doubtMs = firstDoubtMs;
  #collectedAt = performance.now();

  constructor() {
    setFlagsFromString('--expose-gc');
    this.#collect = runInNewContext('gc');
    this.#noteLeft();
    this.#timer = setInterval(() => void this.#look(), lookMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isCollecting) return;
    const bytes = usedBytes();
    const isMuch = bytes > this.#mostBytes;
    if (isMuch || (bytes > leastGarbageBytes && performance.now() - this.#collectedAt > this.#doubtMs)) {
      this.#isCollecting = true;
      await this.#collect({ type: 'major', execution: 'async' });
      this.#isCollecting = false;
      this.#mostBytes = Number.POSITIVE_INFINITY;
      this.#collectedAt = performance.now();
      const wasGarbage = isMuch || bytes - usedBytes() > bytes / 8;
      this.#doubtMs = wasGarbage ? firstDoubtMs : Math.min(2 * this.#doubtMs, longestDoubtMs);
    }
    // Also where V8 has collected by itself.
    this.#noteLeft();
  }

  #noteLeft(): void {
    // As much again as the objects that are left: each collection visits them.
    const garbageBytes = Math.max(leastGarbageBytes, getHeapStatistics().used_heap_size);
    this.#mostBytes = Math.min(this.#mostBytes, usedBytes() + garbageBytes);
  }
}

/** Of objects, and of buffers outside of the heap. */
function usedBytes(): number {
  const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
  return heapBytes + externalBytes;
}
