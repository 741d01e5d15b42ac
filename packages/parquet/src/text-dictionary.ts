/** With more of them the numbers and the entries take no less room than the texts. */
const mostEntries = 8192;
/** So many that most texts are found at once. */
const places = 2 ** 15;
const placeShift = 32 - 15;
/** Texts of up to so many bytes are short. */
const wordBytes = 8;
/** By a number of bytes: what they take of the first word, and of the second. */
const firstMasks = Int32Array.of(0, 0xff, 0xffff, 0xff_ffff, -1, -1, -1, -1, -1);
const secondMasks = Int32Array.of(0, 0, 0, 0, 0, 0xff, 0xffff, 0xff_ffff, -1);
/** Of a longer one, so many at each end make its hash: to read all of it would cost as much as to copy it. */
const hashedBytes = 64;
const prime = 0x01000193;
const mixer = 0x9e3779b1 | 0;
/** More steps than that to find a text mean that somebody made texts to that end, or that they hardly differ. */
const mostSteps = 64;
/** Of each byte, on average: long texts with the same ends are not worth more. */
const mostComparisons = 4;
/** So many are tried before it is judged whether texts repeat. */
const triedTexts = 8192;

/** Numbers texts by their first occurrence. */
export class TextDictionary {
  /** Number of an entry plus 1, or 0. */
  readonly #table = new Uint16Array(places);
  readonly #starts = new Int32Array(mostEntries);
  readonly #lengths = new Int32Array(mostEntries);
  /** Of short entries all their bytes, of others two hashes. */
  readonly #firstWords = new Int32Array(mostEntries);
  readonly #secondWords = new Int32Array(mostEntries);
  #data: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Bytes that may still be compared. */
  #comparable = 0;
  /** Entries that were found. */
  length = 0;

  /** The number of each text; undefined where too few of them repeat. */
  numbersOf(data: Uint8Array, ends: Int32Array): Uint16Array | undefined {
    this.#table.fill(0);
    this.#data = data;
    this.#view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    this.#comparable = mostComparisons * data.length;
    this.length = 0;
    const numbers = new Uint16Array(ends.length);
    let from = 0;
    for (let row = 0; row < ends.length; row++) {
      const end = ends[row] as number;
      const number = end - from <= wordBytes ? this.#numberOfShort(from, end) : this.#numberOfLong(from, end);
      if (number < 0 || (row === triedTexts && this.length > triedTexts / 2)) return undefined;
      numbers[row] = number;
      from = end;
    }
    return this.length > ends.length / 2 ? undefined : numbers;
  }

  /** In the order of their numbers. */
  get entries(): { readonly data: Uint8Array; readonly ends: Int32Array } {
    const ends = new Int32Array(this.length);
    let bytes = 0;
    for (let n = 0; n < this.length; n++) {
      bytes += this.#lengths[n] as number;
      ends[n] = bytes;
    }
    const data = new Uint8Array(bytes);
    let at = 0;
    for (let n = 0; n < this.length; n++) {
      const start = this.#starts[n] as number;
      data.set(this.#data.subarray(start, start + (this.#lengths[n] as number)), at);
      at = ends[n] as number;
    }
    return { data, ends };
  }

  /** Its bytes are held as two words, so that a look at these tells it from others. */
  #numberOfShort(from: number, end: number): number {
    // Read at once, with what follows, where that is still within the data: byte by byte takes twice the time.
    if (from + wordBytes > this.#data.length)
      return this.#find(this.#word(from, end), this.#word(from + 4, end), from, end, true);
    const first = this.#view.getInt32(from, true) & (firstMasks[end - from] as number);
    const second = this.#view.getInt32(from + 4, true) & (secondMasks[end - from] as number);
    return this.#find(first, second, from, end, true);
  }

  #word(from: number, end: number): number {
    let word = 0;
    for (let at = Math.min(end, from + 4) - 1; at >= from; at--) word = (word << 8) | (this.#data[at] as number);
    return word;
  }

  #numberOfLong(from: number, end: number): number {
    const first = this.#hash(from, Math.min(end, from + hashedBytes));
    const second = end - from > hashedBytes ? this.#hash(end - hashedBytes, end) : 0;
    return this.#find(first, second, from, end, false);
  }

  /** Of at least a word; its last bytes may count twice. */
  #hash(from: number, end: number): number {
    const view = this.#view;
    let hash = 0;
    for (let at = from; at + 4 < end; at += 4) {
      hash = Math.imul(hash ^ view.getInt32(at, true), mixer);
      hash ^= hash >>> 15;
    }
    return Math.imul(hash ^ view.getInt32(end - 4, true), mixer);
  }

  /** -1 where it is not there and there is no room for it. */
  #find(first: number, second: number, from: number, end: number, isShort: boolean): number {
    let place = Math.imul(first ^ Math.imul(second ^ (end - from), prime), mixer) >>> placeShift;
    for (let step = 0; step < mostSteps; step++, place = (place + 1) & (places - 1)) {
      const number = (this.#table[place] as number) - 1;
      if (number < 0) return this.#add(place, first, second, from, end);
      if (this.#firstWords[number] !== first || this.#secondWords[number] !== second) continue;
      if (this.#lengths[number] !== end - from) continue;
      if (isShort || this.#isSame(this.#starts[number] as number, from, end)) return number;
      if (this.#comparable < 0) return -1;
    }
    return -1;
  }

  #add(place: number, first: number, second: number, from: number, end: number): number {
    const number = this.length;
    if (number === mostEntries) return -1;
    this.length = number + 1;
    this.#table[place] = number + 1;
    this.#starts[number] = from;
    this.#lengths[number] = end - from;
    this.#firstWords[number] = first;
    this.#secondWords[number] = second;
    return number;
  }

  #isSame(start: number, from: number, end: number): boolean {
    const view = this.#view;
    this.#comparable -= end - from;
    for (let at = from, other = start; at + 4 < end; at += 4, other += 4)
      if (view.getInt32(at, true) !== view.getInt32(other, true)) return false;
    return view.getInt32(end - 4, true) === view.getInt32(start + end - from - 4, true);
  }
}
