/** To make a view of so few bytes costs more than to copy them one by one. */
const fewBytes = 24;

export function copyBytes(from: Uint8Array, start: number, to: Uint8Array, at: number, count: number): void {
  if (count > fewBytes) to.set(from.subarray(start, start + count), at);
  else for (let n = 0; n < count; n++) to[at + n] = from[start + n] as number;
}

/** All pieces in one, in memory that starts with it: Arrow's readers view it as wider numbers. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
