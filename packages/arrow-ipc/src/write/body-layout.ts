import { padding } from '@framehold/columns';
import { ipcMessage } from './ipc-message.ts';

const none = new Uint8Array(0);

/** The nodes and buffers of a record batch, in the order of Arrow IPC: a field before its children. */
export class BodyLayout {
  readonly #nodes: number[] = [];
  readonly #buffers: number[] = [];
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  node(length: number, nulls: number): void {
    this.#nodes.push(length, nulls);
  }

  /** `padded` holds `length` bytes and zeros up to the next multiple of 64. */
  buffer(padded: Uint8Array, length: number): void {
    this.#buffers.push(this.#bytes, length);
    if (padded.length > 0) this.#pieces.push(padded);
    this.#bytes += padded.length;
  }

  emptyBuffer(): void {
    this.buffer(none, 0);
  }

  /** The message; its pieces belong one behind the other. */
  message(rows: number): Uint8Array[] {
    const table = {
      fields: [{ bytes: 8, value: rows } as const, { int64Pairs: this.#nodes }, { int64Pairs: this.#buffers }],
    };
    const head = ipcMessage({ kind: 'recordBatch', table, bodyBytes: this.#bytes, alignment: padding });
    return [head, ...this.#pieces];
  }
}
