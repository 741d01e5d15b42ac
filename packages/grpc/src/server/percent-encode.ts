/** Clients refuse trailers of more than 8 to 16 KiB altogether, status and all. */
const maxEncodedLength = 4096;

/** Text as gRPC writes it into headers: UTF-8, with `%` and all but printable ASCII as %XX. Cut, at a whole character, when long. */
export function percentEncode(text: string): string {
  let encoded = '';
  for (const character of text) {
    const next = /^[ -$&-~]$/.test(character) ? character : escaped(character);
    if (encoded.length + next.length > maxEncodedLength) break;
    encoded += next;
  }
  return encoded;
}

function escaped(character: string): string {
  let text = '';
  for (const byte of Buffer.from(character)) text += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return text;
}
