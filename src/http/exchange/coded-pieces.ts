import { availableParallelism } from 'node:os';
import type { Transform } from 'node:stream';
import { Semaphore } from '../../core/async/semaphore.ts';

/** Most bytes that a coder takes or gives in one piece of its work. */
const pieceBytes = 64 * 1024;

/** For coders of zlib: each task of the thread pool ends with at most so many bytes, and the next one begins only when they are read. */
export const coderOptions = { chunkSize: pieceBytes, readableHighWaterMark: pieceBytes };

/** Coders work in the same four threads as all operations on files, which have the others; and a core is left to the event loop. */
export const codingPlaces = Math.min(2, Math.max(1, availableParallelism() - 1));
const places = new Semaphore(codingPlaces);

/** Resolves when it is the lane's turn to compress or unpack a piece. Returns what gives the place back. */
export function codingPlace(lane: string): Promise<() => void> {
  return places.acquire({ lane });
}

/**
 * What a coder makes of pieces. It has a place only while it works at one, neither while it waits for the next nor while its
 * reader is slow.
 */
export async function* codedPieces(
  pieces: AsyncIterable<Uint8Array>,
  coder: Transform,
  lane: string,
): AsyncGenerator<Buffer, void, undefined> {
  const work = new CoderWork(coder, lane);
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.byteLength; at += pieceBytes) {
        yield* work.write(piece.subarray(at, at + pieceBytes));
        if (coder.readableEnded) return;
      }
    }
    yield* work.end();
  } finally {
    coder.destroy();
  }
}

class CoderWork {
  readonly #coder: Transform;
  readonly #lane: string;
  #isDone = false;
  #isEnding = false;
  #error: Error | undefined;
  #wake = (): void => {};

  constructor(coder: Transform, lane: string) {
    this.#coder = coder;
    this.#lane = lane;
    coder.on('readable', () => {
      // The end comes only to those who read.
      if (coder.readableLength === 0) coder.read();
      this.#wake();
    });
    coder.on('error', (error) => this.#done(error));
    coder.on('end', () => this.#done());
    coder.on('close', () => this.#done());
  }

  write(piece: Uint8Array): AsyncGenerator<Buffer, void, undefined> {
    return this.#output(() => this.#coder.write(piece, (error) => this.#done(error)));
  }

  end(): AsyncGenerator<Buffer, void, undefined> {
    this.#isEnding = true;
    // Streams of zlib have finished before they work at their end.
    return this.#output(() => this.#coder.end());
  }

  async *#output(begin: () => void): AsyncGenerator<Buffer, void, undefined> {
    this.#isDone = false;
    await this.#work(begin);
    while (!this.#isDone) {
      let read: Buffer | null = null;
      // It has stopped at a full buffer, and goes on as soon as that is read.
      await this.#work(() => {
        read = this.#coder.read();
      });
      if (read !== null) yield read;
    }
    const rest: Buffer | null = this.#coder.read();
    if (rest !== null) yield rest;
  }

  /** Has a place until the coder has done its piece or must be read before it goes on. */
  async #work(goOn: () => void): Promise<void> {
    const release = await codingPlace(this.#lane);
    try {
      goOn();
      while (!this.#hasStopped) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      release();
    }
  }

  #done(error?: Error | null): void {
    this.#error ??= error ?? undefined;
    this.#isDone = true;
    this.#wake();
  }

  get #hasStopped(): boolean {
    const { readableLength, readableHighWaterMark } = this.#coder;
    return this.#isDone || readableLength >= (this.#isEnding ? 1 : readableHighWaterMark);
  }
}
