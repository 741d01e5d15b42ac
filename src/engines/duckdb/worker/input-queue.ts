import type { Socket } from 'node:net';
import { type Message, messageKind } from '../protocol.ts';

const maxWaitingBytes = 4 * 1024 * 1024;

/** Uploaded bytes between the data channel and the job that reads them; stops reading the channel when it is full. */
export class InputQueue {
  readonly #socket: Socket;
  #waiting: Message[] = [];
  #bytes = 0;
  #turn = 0;
  #wake: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  push(message: Message): void {
    if (this.#isPast(message)) return;
    this.#waiting.push(message);
    this.#bytes += message.payload.length;
    if (this.#bytes > maxWaitingBytes) this.#socket.pause();
    this.#wake?.();
  }

  /** The bytes up to the end mark. */
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
        this.#bytes -= message.payload.length;
        if (message.kind === messageKind.inputEnd) return;
        yield message.payload;
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /** The next job's turn: what an earlier one left unread is dropped. Input may be here before the job itself is. */
  begin(turn: number): void {
    this.#turn = turn & 255;
    this.#waiting = this.#waiting.filter((message) => !this.#isPast(message));
    this.#bytes = this.#waiting.reduce((sum, message) => sum + message.payload.length, 0);
    this.#socket.resume();
  }

  #isPast(message: Message): boolean {
    return ((message.turn - this.#turn) & 255) >= 128;
  }
}
