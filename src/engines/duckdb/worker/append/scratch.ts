import type { ArrowColumn } from '../../../../encoding/arrow/read/columns/column.ts';
import { copyMemory } from '../native/c-api.ts';
import { type Address, addressOf } from '../native/vector-api.ts';
import type { Rows } from './rows.ts';

/** Memory in which values are put together before they are copied into a vector. */
export class Scratch {
  bytes = new Uint8Array(0);
  words = new Int32Array(0);
  floats = new Float32Array(0);

  /** Makes room; what was in it is lost. */
  prepare(bytes: number): this {
    if (this.bytes.length < bytes) {
      const memory = new ArrayBuffer(2 ** Math.ceil(Math.log2(Math.max(bytes, 32_768))));
      this.bytes = new Uint8Array(memory);
      this.words = new Int32Array(memory);
      this.floats = new Float32Array(memory);
    }
    return this;
  }

  copyTo(target: Address, bytes: number): void {
    copyMemory(target, addressOf(this.bytes), bytes);
  }
}

/** Rows of a column that are to be stored in the data of a vector. */
export interface StoreTask {
  readonly column: ArrowColumn;
  readonly rows: Rows;
  /** A bit a row, null when all are there. */
  readonly present: Uint8Array | null;
  readonly scratch: Scratch;
  readonly target: Address;
}
