import type { Socket } from 'node:net';
import { type Column, giveMemory } from '@framehold/columns';
import { columnsText } from '../../../../encoding/columns-text.ts';
import type { EncodedPieces } from '../../../../encoding/row-encoder.ts';
import { rowsHead } from '../../protocol/encoded-rows.ts';
import { type MessageKind, messageHeader, messageKind } from '../../protocol/protocol.ts';
import { slotBytes } from '../../protocol/shared-file.ts';
import type { SharedSlots } from './shared-slots.ts';

/** Whether another message follows: in this turn of the event loop, perhaps soon, or no more of this job. */
type NextMessage = 'follows' | 'perhaps' | 'none';

/** `done` with the job's answer, or `error`. */
export type LastMessage = readonly [MessageKind, unknown];

const shortMessageBytes = 16 * 1024;
const mostHeldMs = 2;
/** Smaller messages fit into a pipe at once. */
const leastSharedBytes = 64 * 1024;

/** The child's side of the data channel. A short message waits a moment for the next: for the parent, one wake-up is cheaper than three. */
export class AnswerChannel {
  readonly #socket: Socket;
  readonly #slots: SharedSlots | undefined;
  readonly #letGo = (): void => this.#uncork();
  #isCorked = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, slots: SharedSlots | undefined) {
    this.#socket = socket;
    this.#slots = slots;
  }

  sendColumns(columns: readonly Column[], next: NextMessage = 'perhaps'): Promise<void> {
    const payload = Buffer.from(columnsText(columns));
    return this.#send([messageHeader(messageKind.rows, 0, payload.length), payload], next);
  }

  async sendRows({ rows, rowEnds, pieces }: EncodedPieces, next: NextMessage = 'perhaps'): Promise<void> {
    const head = rowsHead(rows, rowEnds);
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, head.length);
    if (this.#slots !== undefined && bytes >= leastSharedBytes && bytes <= slotBytes) {
      const slot = await this.#slots.put([head, ...pieces]);
      if (slot !== undefined) {
        for (const piece of pieces) giveMemory(piece);
        const place = Buffer.allocUnsafe(8);
        place.writeUInt32LE(slot, 0);
        place.writeUInt32LE(bytes, 4);
        // Not held: the next one may wait for the slot that the parent empties.
        return this.#send([messageHeader(messageKind.sharedRows, 0, place.length), place], 'perhaps');
      }
    }
    return this.#send([messageHeader(messageKind.rows, 0, bytes), head, ...pieces], next);
  }

  async sendEnd([kind, answer]: LastMessage, turn: number): Promise<void> {
    const payload = Buffer.from(JSON.stringify(answer ?? null));
    await this.#send([messageHeader(kind, turn, payload.length), payload], 'none');
  }

  /** Waits while the parent is slow. */
  async #send(parts: readonly Uint8Array[], next: NextMessage): Promise<void> {
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
