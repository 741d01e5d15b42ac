/** To make a view of so few bytes costs more than to copy them one by one. */
const fewBytes = 24;

export function copyBytes(from: Uint8Array, start: number, to: Uint8Array, at: number, count: number): void {
  if (count > fewBytes) to.set(from.subarray(start, start + count), at);
  else for (let n = 0; n < count; n++) to[at + n] = from[start + n] as number;
}
