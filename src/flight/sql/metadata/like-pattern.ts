import { AppError } from '../../../core/errors/app-error.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';

/** Length of a pattern: it is compared with every name. */
const mostCharacters = 1000;
const escapeCharacter = '\\';

type Token = '%' | '_' | { readonly literal: string };

/**
 * Whether a name matches a pattern of Flight SQL's metadata commands: `%` is any text, `_` one character, `\` takes the next
 * literally. Case does not matter, as in names of SQL: JDBC tools send upper case.
 */
export function likePattern(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  if (pattern.length > mostCharacters) {
    throw new AppError(
      'too_large',
      `a pattern of ${pattern.length} characters is more than the ${mostCharacters} allowed`,
    );
  }
  const tokens = parse(asciiLower(pattern));
  return (name) => matches([...asciiLower(name)], tokens);
}

function parse(pattern: string): Token[] {
  const tokens: Token[] = [];
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && character === escapeCharacter) escaped = true;
    else {
      // A second % says no more than the first.
      if (!escaped && character === '%' && tokens.at(-1) === '%') continue;
      tokens.push(escaped || (character !== '%' && character !== '_') ? { literal: character } : character);
      escaped = false;
    }
  }
  if (escaped) tokens.push({ literal: escapeCharacter });
  return tokens;
}

/** Not a regular expression: a pattern of many `%` would keep one busy for years. */
function matches(name: readonly string[], tokens: readonly Token[]): boolean {
  let at = 0;
  let token = 0;
  let lastPercent: { readonly token: number; at: number } | undefined;
  while (at < name.length) {
    const expected = tokens[token];
    if (expected === '%') {
      lastPercent = { token, at };
      token += 1;
    } else if (expected === '_' || (expected !== undefined && expected.literal === name[at])) {
      at += 1;
      token += 1;
    } else if (lastPercent !== undefined) {
      lastPercent.at += 1;
      at = lastPercent.at;
      token = lastPercent.token + 1;
    } else return false;
  }
  return token === tokens.length || (token === tokens.length - 1 && tokens[token] === '%');
}
