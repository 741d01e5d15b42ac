/** DuckDB counts bytes of UTF-8 or code points; callers count UTF-16 units, as JavaScript and Java do. */
export function offsetOfByte(text: string, byteOffset: number): number {
  return Buffer.from(text).subarray(0, byteOffset).toString().length;
}

export function offsetOfCodePoint(text: string, codePoints: number): number {
  let offset = 0;
  for (let count = 0; count < codePoints && offset < text.length; count++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}
