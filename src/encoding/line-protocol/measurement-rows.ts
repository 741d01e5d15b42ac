import type { Batch, Column, DataType, Vector } from '@framehold/columns';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import { ColumnBuilder, type MemoryBudget } from './column-builder.ts';
import { NullVectors } from './null-vector.ts';

/** Column of the time of a line. */
export const timestampName = 'timestamp';
const timestampType: DataType = { kind: 'timestamp', unit: 'ns', zoned: false };
export const mostColumns = 4096;
/** Columns of fewer rows are enlarged in no time. */
const earlyRows = 100_000;

export interface RowOptions {
  readonly expectedRows: number;
  readonly budget: MemoryBudget;
}

/** The lines of one measurement as rows of its frame. */
export class MeasurementRows {
  readonly name: string;
  /** Start of its name in the body, as a line spells it. */
  readonly nameStart: number;
  readonly nameEnd: number;
  /** Whether its frame is to be made. */
  readonly isNew: boolean;
  /** Complete ones. */
  rows = 0;
  timestamp: ColumnBuilder | undefined;
  /** In the order of the last line: a line mostly has the names of the one before. */
  readonly sequence: ColumnBuilder[] = [];
  /** Starts of their names in the body. */
  readonly keyStarts: number[] = [];
  readonly keyEnds: number[] = [];
  readonly #builders: ColumnBuilder[];
  readonly #byKey = new Map<string, ColumnBuilder>();
  readonly #frameColumns: readonly Column[];
  readonly #options: RowOptions;

  /** Without columns the frame is to be made. */
  constructor(
    place: { readonly name: string; readonly nameStart: number; readonly nameEnd: number },
    columns: readonly Column[] | undefined,
    options: RowOptions,
  ) {
    this.name = place.name;
    this.nameStart = place.nameStart;
    this.nameEnd = place.nameEnd;
    this.isNew = columns === undefined;
    this.#frameColumns = columns ?? [];
    this.#options = options;
    this.#builders = this.#frameColumns.map(({ name, type }) => this.#builder(name, type));
    for (const builder of this.#builders) if (!this.#byKey.has(builder.key)) this.#byKey.set(builder.key, builder);
    this.timestamp = this.#byKey.get(timestampName);
  }

  /** Whether a line has brought columns that its frame has not. */
  get isWider(): boolean {
    return !this.isNew && this.#builders.length > this.#frameColumns.length;
  }

  get columnCount(): number {
    return this.#builders.length;
  }

  find(name: string): ColumnBuilder | undefined {
    return this.#byKey.get(asciiLower(name));
  }

  add(name: string): ColumnBuilder {
    const isTime = asciiLower(name) === timestampName;
    const builder = this.#builder(name, isTime ? timestampType : undefined);
    this.#builders.push(builder);
    this.#byKey.set(builder.key, builder);
    if (isTime) this.timestamp = builder;
    return builder;
  }

  addTimestamp(): ColumnBuilder {
    return this.add(timestampName);
  }

  /** True where a large column was enlarged before it is full. `done`: the share of the body that is parsed. */
  growsEarly(done: number): boolean {
    return this.rows >= earlyRows && this.#builders.some((builder) => builder.growsEarly(done));
  }

  /** Its frame's columns, with new ones behind them. */
  batch(): Batch {
    const nulls = new NullVectors(this.rows);
    const columns: Column[] = [];
    const vectors: Vector[] = [];
    for (const builder of this.#builders) {
      columns.push(builder.column);
      vectors.push(builder.finish(this.rows) ?? nulls.of(builder.type));
    }
    return { columns: this.isWider || this.isNew ? columns : this.#frameColumns, rows: this.rows, vectors };
  }

  #builder(name: string, type: DataType | undefined): ColumnBuilder {
    return new ColumnBuilder(name, type, this.#options.expectedRows, this.#options.budget);
  }
}
