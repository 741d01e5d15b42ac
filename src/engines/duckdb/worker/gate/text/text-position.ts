/** Offsets of a text by those of its bytes in UTF-8: DuckDB counts bytes or code points, callers UTF-16 units, as JavaScript does. */
export function offsetsOfBytes(text: string): (byte: number) => number {
  const offsets = new Uint32Array(Buffer.byteLength(text));
  let byte = 0;
  for (let offset = 0; offset < text.length; ) {
    const codePoint = text.codePointAt(offset) ?? 0;
    const end = byte + (codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x1_0000 ? 3 : 4);
    offsets.fill(offset, byte, end);
    byte = end;
    offset += codePoint > 0xffff ? 2 : 1;
  }
  return (at) => offsets[at] ?? text.length;
}

export function offsetOfCodePoint(text: string, codePoints: number): number {
  let offset = 0;
  for (let count = 0; count < codePoints && offset < text.length; count++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}
