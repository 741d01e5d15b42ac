import { type BatchDecoder, batchDecoder } from '@framehold/arrow-ipc';
import type { Batch, Column } from '@framehold/columns';
import type { LogRecord } from './log-record.ts';

/** A log file and its number of known bytes. */
export interface KnownFile {
  readonly name: string;
  readonly size: number;
}

/** Rows of a batch that stand behind each other. */
export interface BatchSlice {
  readonly batch: Batch;
  readonly from: number;
  readonly to: number;
}

const decoded = new WeakMap<LogRecord, Batch>();

/**
 * The rows of a frame that are in its log and not in Parquet yet: [fromRow, toRow) of the lineage. Immutable. A grown tail shares
 * its records with the one before.
 */
export class Tail {
  readonly fromRow: number;
  readonly toRow: number;
  readonly bytes: number;
  /** Of the last record. */
  readonly version: number | undefined;
  /** Its files on the disk. */
  readonly files: readonly KnownFile[];
  readonly #records: LogRecord[];
  /** Records behind it belong to a tail that grew out of this one. */
  readonly #count: number;

  private constructor(
    records: LogRecord[],
    count: number,
    facts: Pick<Tail, 'fromRow' | 'toRow' | 'bytes' | 'version' | 'files'>,
  ) {
    this.#records = records;
    this.#count = count;
    this.fromRow = facts.fromRow;
    this.toRow = facts.toRow;
    this.bytes = facts.bytes;
    this.version = facts.version;
    this.files = facts.files;
  }

  /** `records` follow each other from `fromRow` on. */
  static of(fromRow: number, records: readonly LogRecord[], files: readonly KnownFile[]): Tail {
    const last = records.at(-1);
    return new Tail([...records], records.length, {
      fromRow,
      toRow: last === undefined ? fromRow : last.firstRow + last.rows,
      bytes: bytesOf(records),
      version: last?.version,
      files,
    });
  }

  static empty(fromRow: number): Tail {
    return Tail.of(fromRow, [], []);
  }

  get rows(): number {
    return this.toRow - this.fromRow;
  }

  /** A copy: rows that are appended during a read do not belong to this tail. */
  get records(): readonly LogRecord[] {
    return this.#records.slice(0, this.#count);
  }

  /** With a further record, which is in `file`. */
  with(record: LogRecord, file: KnownFile): Tail {
    const records = this.#count === this.#records.length ? this.#records : this.#records.slice(0, this.#count);
    records.push(record);
    const before = this.files.at(-1)?.name === file.name ? this.files.slice(0, -1) : this.files;
    return new Tail(records, this.#count + 1, {
      fromRow: this.fromRow,
      toRow: record.firstRow + record.rows,
      bytes: this.bytes + record.message.length,
      version: record.version,
      files: [...before, file],
    });
  }

  /** Without the rows before this one, which is the first of a record or behind the last. */
  from(row: number, files: readonly KnownFile[]): Tail {
    const records = this.records.filter(({ firstRow, rows }) => firstRow + rows > row);
    return Tail.of(row, records, files);
  }

  /** The rows [from, to), which are rows of this tail. */
  *slices(columns: readonly Column[], from: number, to: number): Generator<BatchSlice, void, undefined> {
    const decoder = batchDecoder(columns) as BatchDecoder;
    for (let at = this.#indexOf(from); at < this.#count; at++) {
      const record = this.#records[at] as LogRecord;
      if (record.firstRow >= to) return;
      if (record.rows === 0) continue;
      let batch = decoded.get(record);
      if (batch === undefined) {
        batch = decoder(record.message);
        decoded.set(record, batch);
      }
      yield {
        batch,
        from: Math.max(0, from - record.firstRow),
        to: Math.min(record.rows, to - record.firstRow),
      };
    }
  }

  /** Index of the record with the row. */
  #indexOf(row: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const { firstRow, rows } = this.#records[middle] as LogRecord;
      if (firstRow + rows <= row) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function bytesOf(records: readonly LogRecord[]): number {
  return records.reduce((sum, { message }) => sum + message.length, 0);
}
