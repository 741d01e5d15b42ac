/** The server's advice in words of HTTP, and the same in words of this package. The first match counts. */
const words: Readonly<Record<string, string>> = {
  'send Authorization: Bearer <token>': 'give one: connect(url, { token })',
  'or say overwrite or append': "or say mode: 'overwrite' or mode: 'append'",
  'or say overwrite': "or say mode: 'overwrite'",
  '; overwrite replaces the frame': "; mode: 'overwrite' replaces the frame",
  'atomicity=skipRow': 'skipBadRows: true',
};

/** A hint of the server in the words of this package. */
export function inOurWords(hint: string): string {
  const found = Object.entries(words).find(([theirs]) => hint.includes(theirs));
  return found === undefined ? hint : hint.replace(found[0], found[1]);
}
