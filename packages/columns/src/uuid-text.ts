const uuidBytes = 36;
const dash = 45;

/** Whether the bytes [from, to) are a UUID in lower case with its dashes. */
export function isUuidText(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== uuidBytes) return false;
  for (let n = 0; n < uuidBytes; n++) {
    const byte = bytes[from + n] as number;
    if (n === 8 || n === 13 || n === 18 || n === 23) {
      if (byte !== dash) return false;
    } else if (!((byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 102))) return false;
  }
  return true;
}
