import type { Socket } from 'node:net';
import { messageKind, type WorkerMessage } from '../../protocol/protocol.ts';

/**
 * Uploaded bytes between the data channel and the job that reads them. They are views of the memory that the channel is read
 * into, so that nothing more may be read while any of them wait.
 */
export class InputQueue {
  readonly #socket: Socket;
  #waiting: WorkerMessage[] = [];
  #turn = 0;
  #wake: (() => void) | undefined;
  #isLookedAt = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // The first time it takes effect only a moment later, when bytes may wait.
    socket.resume();
  }

  /** Whether any bytes are still needed that were read. */
  get holdsBytes(): boolean {
    return this.#isLookedAt || this.#waiting.length > 0;
  }

  push(message: WorkerMessage): void {
    if (this.#isPast(message)) return;
    this.#waiting.push(message);
    this.#wake?.();
  }

  /** The bytes up to the end mark, in pieces that are valid until the next one is read. */
  async *stream(signal: AbortSignal): AsyncGenerator<Buffer, void, undefined> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake);
    try {
      for (;;) {
        signal.throwIfAborted();
        const message = this.#waiting.shift();
        if (message === undefined) {
          this.#socket.resume();
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          continue;
        }
        if (message.kind === messageKind.inputEnd) return;
        this.#isLookedAt = true;
        yield message.payload;
        this.#isLookedAt = false;
      }
    } finally {
      this.#isLookedAt = false;
      signal.removeEventListener('abort', wake);
    }
  }

  /** Starts the next job's turn and drops unread input of earlier ones. Input may arrive before its job. */
  begin(turn: number): void {
    this.#turn = turn & 255;
    this.#waiting = this.#waiting.filter((message) => !this.#isPast(message));
    if (!this.holdsBytes) this.#socket.resume();
  }

  #isPast(message: WorkerMessage): boolean {
    return ((message.turn - this.#turn) & 255) >= 128;
  }
}
