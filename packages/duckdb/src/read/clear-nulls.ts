/** DuckDB leaves old memory under nulls, of other queries too, and in Arrow a client would see it. */
export function clearNulls(data: Uint8Array, width: number, validity: Uint8Array): void {
  const cells = cellsOf(data, width);
  const cellsPerRow = width === 16 ? 2 : 1;
  for (let byte = 0; byte < validity.length; byte++) {
    const bits = validity[byte] as number;
    if (bits === 0xff) continue;
    const last = Math.min(cells.length, (byte + 1) * 8 * cellsPerRow);
    for (let cell = byte * 8 * cellsPerRow, bit = 0; cell < last; cell += cellsPerRow, bit++) {
      if (((bits >> bit) & 1) === 1) continue;
      cells[cell] = 0;
      if (cellsPerRow === 2) cells[cell + 1] = 0;
    }
  }
}

function cellsOf({ buffer, byteOffset, byteLength }: Uint8Array, width: number) {
  switch (width) {
    case 1:
      return new Uint8Array(buffer, byteOffset, byteLength);
    case 2:
      return new Uint16Array(buffer, byteOffset, byteLength / 2);
    case 4:
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    default:
      // All bits of the number 0 are 0.
      return new Float64Array(buffer, byteOffset, byteLength / 8);
  }
}
