/** Several times what a file of a billion rows needs. */
const mostChunks = 4_000_000;
/** A value that repeats takes next to no room, so that a small file may honestly hold this many. */
const freeValues = 2 ** 32;
/** Of more values than that, there are at most this many for each byte of the file. */
const mostValuesPerByte = 1000;

/** Where the column chunks of a Parquet file lie, as its footer says. Only the numbers are kept: there may be millions. */
export class ChunkPlaces {
  readonly #dataEnd: number;
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #values = 0;

  /** The bytes from `dataStart` to `dataEnd` are theirs. */
  constructor(dataStart: number, dataEnd: number) {
    this.#starts.push(0);
    this.#ends.push(dataStart);
    this.#dataEnd = dataEnd;
  }

  add(start: number, bytes: number): void {
    if (this.#starts.length > mostChunks) throw new RangeError(`there are more than ${mostChunks} column chunks`);
    this.#starts.push(start);
    // One that says that it is empty begins somewhere all the same.
    this.#ends.push(start + Math.max(1, bytes));
  }

  addValues(values: number): void {
    this.#values += values;
  }

  /** Throws a RangeError where two of them share bytes, one lies elsewhere, or there are more values than the file can hold. */
  check(): void {
    const starts = Float64Array.from(this.#starts).sort();
    const ends = Float64Array.from(this.#ends).sort();
    // Of ranges that share nothing, each end is before the next start, also where the two are sorted apart.
    const shared = starts.findIndex((start, index) => index > 0 && start < (ends[index - 1] ?? 0));
    if (shared >= 0) throw new RangeError(`column chunks overlap at byte ${starts[shared]}`);
    if ((ends.at(-1) ?? 0) > this.#dataEnd) throw new RangeError('a column chunk lies outside of the file');
    if (this.#values > Math.max(freeValues, mostValuesPerByte * this.#dataEnd))
      throw new RangeError(`${this.#values} values are too many for ${this.#dataEnd} bytes`);
  }
}
