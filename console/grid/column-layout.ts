export const minColumnPx = 48;
export const maxColumnPx = 2000;

/** Positions of columns of any widths. */
export class ColumnLayout {
  readonly #widths: number[];
  /** The left edge of each, and the right one of the last. */
  readonly #lefts: number[];

  constructor(widths: readonly number[]) {
    this.#widths = [...widths];
    this.#lefts = new Array<number>(widths.length + 1).fill(0);
    this.#place(0);
  }

  get totalPx(): number {
    return this.#lefts.at(-1) ?? 0;
  }

  left(column: number): number {
    return this.#lefts[column] ?? this.totalPx;
  }

  width(column: number): number {
    return this.#widths[column] ?? 0;
  }

  resize(column: number, px: number): void {
    this.#widths[column] = Math.min(Math.max(Math.round(px), minColumnPx), maxColumnPx);
    this.#place(column);
  }

  /** The column that covers this px. */
  columnAt(px: number): number {
    let [low, high] = [0, this.#widths.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.left(middle) <= px) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  /** Columns [first, end) that are to be seen in [left, left + width). */
  visible(left: number, width: number): { readonly first: number; readonly end: number } {
    if (this.#widths.length === 0) return { first: 0, end: 0 };
    return { first: this.columnAt(left), end: this.columnAt(left + width) + 1 };
  }

  #place(from: number): void {
    for (let column = from; column < this.#widths.length; column++) {
      this.#lefts[column + 1] = this.left(column) + this.width(column);
    }
  }
}
