/** With more of them the numbers and the entries take no less room than the texts. */
const mostEntries = 8192;
/** A power of two, and so large enough that most texts are found at once. */
const places = mostEntries * 4;
/** More steps than that to find a text mean that somebody made texts to that end, or that they hardly differ. */
const mostSteps = 64;
/** So many are tried before it is judged whether texts repeat. */
const triedTexts = 2048;

/** Numbers texts by their first occurrence. */
export class TextDictionary {
  /** Number of an entry plus 1, or 0. */
  readonly #table = new Uint16Array(places);
  readonly #starts = new Int32Array(mostEntries);
  readonly #ends = new Int32Array(mostEntries);
  readonly #hashes = new Int32Array(mostEntries);
  #data: Uint8Array = new Uint8Array(0);
  /** Entries that were found. */
  length = 0;

  /** The number of each text; undefined where too few of them repeat. */
  numbersOf(data: Uint8Array, ends: Int32Array): Uint16Array | undefined {
    this.#table.fill(0);
    this.#data = data;
    this.length = 0;
    const numbers = new Uint16Array(ends.length);
    let from = 0;
    for (let row = 0; row < ends.length; row++) {
      const end = ends[row] as number;
      const number = this.#numberOf(data, from, end);
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
      bytes += (this.#ends[n] as number) - (this.#starts[n] as number);
      ends[n] = bytes;
    }
    const data = new Uint8Array(bytes);
    let at = 0;
    for (let n = 0; n < this.length; n++) {
      data.set(this.#data.subarray(this.#starts[n], this.#ends[n]), at);
      at = ends[n] as number;
    }
    return { data, ends };
  }

  /** -1 where there is no room for one more. */
  #numberOf(data: Uint8Array, from: number, end: number): number {
    const hash = hashOf(data, from, end);
    for (let step = 0; step < mostSteps; step++) {
      const place = (hash + step) & (places - 1);
      const number = (this.#table[place] as number) - 1;
      if (number < 0) return this.#add(place, hash, from, end);
      if (this.#hashes[number] === hash && this.#isEntry(number, data, from, end)) return number;
    }
    return -1;
  }

  #add(place: number, hash: number, from: number, end: number): number {
    const number = this.length;
    if (number === mostEntries) return -1;
    this.length = number + 1;
    this.#table[place] = number + 1;
    this.#starts[number] = from;
    this.#ends[number] = end;
    this.#hashes[number] = hash;
    return number;
  }

  #isEntry(number: number, data: Uint8Array, from: number, end: number): boolean {
    const start = this.#starts[number] as number;
    if ((this.#ends[number] as number) - start !== end - from) return false;
    for (let at = from, other = start; at < end; at++, other++) if (data[at] !== data[other]) return false;
    return true;
  }
}

/** A text may be long, so that reading all of it for a hash would cost as much as to copy it: its ends are enough. */
const hashedBytes = 64;

function hashOf(data: Uint8Array, from: number, end: number): number {
  const firstEnd = Math.min(end, from + hashedBytes);
  let hash = end - from;
  for (let at = from; at < firstEnd; at++) hash = Math.imul(hash ^ (data[at] as number), 0x01000193);
  for (let at = Math.max(firstEnd, end - hashedBytes); at < end; at++)
    hash = Math.imul(hash ^ (data[at] as number), 0x01000193);
  return hash ^ (hash >>> 15);
}
