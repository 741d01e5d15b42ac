/** Texts up to this length are not cut. */
const mostCharacters = 16 * 1024;

/** What `JSON.stringify` gives, in small parts; other iterables are lists too, and are read as the parts are taken. */
export function* jsonParts(value: unknown): Generator<string, void, undefined> {
  if (typeof value === 'string') yield* textParts(value);
  else if (typeof value !== 'object' || value === null || isSmall(value)) yield JSON.stringify(value);
  else if (Symbol.iterator in value) {
    let before = '[';
    for (const item of value as Iterable<unknown>) {
      yield before;
      yield* jsonParts(item);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonParts(member);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

/** An object of short values alone, as most columns are. */
function isSmall(value: object): boolean {
  if (Symbol.iterator in value) return false;
  for (const member of Object.values(value)) {
    if (typeof member === 'object' ? member !== null : typeof member === 'string' && member.length > 100) return false;
  }
  return true;
}

function* textParts(text: string): Generator<string, void, undefined> {
  if (text.length <= mostCharacters) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + mostCharacters;
    // Half of a pair would be escaped.
    if (/[\ud800-\udbff]/.test(text.charAt(to - 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
  }
  yield '"';
}
