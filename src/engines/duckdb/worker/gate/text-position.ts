/** Where an offset in a text stands in the caller's text. */
export type Origin = (offset: number) => number;

/** DuckDB counts bytes of UTF-8 or code points; callers count UTF-16 units, as JavaScript and Java do. */
export function offsetOfByte(text: string, byteOffset: number): number {
  return Buffer.from(text).subarray(0, byteOffset).toString().length;
}

/** The same for many, in one pass over the text. One that is beyond its end has its length. */
export function offsetsOfBytes(text: string, byteOffsets: readonly number[]): number[] {
  const offsets = new Array<number>(byteOffsets.length);
  const inOrder = [...byteOffsets.entries()].sort(([, a], [, b]) => a - b);
  let bytes = 0;
  let offset = 0;
  for (const [index, wanted] of inOrder) {
    while (bytes < wanted && offset < text.length) {
      const codePoint = text.codePointAt(offset) ?? 0;
      bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x1_0000 ? 3 : 4;
      offset += codePoint > 0xffff ? 2 : 1;
    }
    offsets[index] = offset;
  }
  return offsets;
}

export function offsetOfCodePoint(text: string, codePoints: number): number {
  let offset = 0;
  for (let count = 0; count < codePoints && offset < text.length; count++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}
