import type { Socket } from 'node:net';

/** Whether another message follows: in this turn of the event loop, perhaps soon, or no more of this job. */
export type NextMessage = 'follows' | 'perhaps' | 'none';

const shortMessageBytes = 16 * 1024;
const mostHeldMs = 2;

/** The child's side of the data channel. A short message waits a moment for the next: for the parent, one wake-up is cheaper than three. */
export class AnswerChannel {
  readonly #socket: Socket;
  readonly #letGo = (): void => this.#uncork();
  #isCorked = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Waits while the parent is slow. */
  async send(parts: readonly Uint8Array[], next: NextMessage): Promise<void> {
    const socket = this.#socket;
    clearTimeout(this.#timer);
    if (!this.#isCorked) socket.cork();
    this.#isCorked = true;
    let free = true;
    for (const part of parts) free = socket.write(part);
    if (next === 'none' || socket.writableLength >= shortMessageBytes) this.#uncork();
    else if (next === 'perhaps') this.#timer = setTimeout(this.#letGo, mostHeldMs);
    if (!free && socket.writableNeedDrain) await new Promise<void>((resolve) => socket.once('drain', () => resolve()));
  }

  #uncork(): void {
    this.#isCorked = false;
    this.#socket.uncork();
  }
}
