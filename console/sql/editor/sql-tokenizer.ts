import type { StreamParser, StringStream } from '@codemirror/language';
import { type Dialect, wordsOf } from './dialects.ts';

/** The state at the begin of a line. */
interface TokenizerState {
  /** Number of open block comments: they nest. */
  commentDepth: number;
  /** The end of the open text or name; empty if none is open. */
  closing: string;
}

const isName = /^[\p{L}_][\p{L}\d_$]*/u;
const isNumber = /^(?:0x[\da-f]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)/i;

/**
 * Colours for an SQL text, a line at a time. @codemirror/lang-sql would do it as well, for 20 kB more; it takes no notice of whether
 * a word is called.
 */
export function sqlTokenizer(dialect: Dialect): StreamParser<TokenizerState> {
  const keywords = new Set(wordsOf(dialect.keywords));
  const types = new Set(wordsOf(dialect.types));
  const functions = new Set(wordsOf(dialect.functions.toLowerCase()));
  const kindOf = (word: string, isCalled: boolean): string | null => {
    if (word === 'null' || word === 'true' || word === 'false') return 'atom';
    if (isCalled && functions.has(word)) return 'variableName.standard';
    if (keywords.has(word)) return 'keyword';
    return types.has(word) ? 'typeName' : null;
  };
  return {
    name: dialect.title,
    startState: () => ({ commentDepth: 0, closing: '' }),
    copyState: (state) => ({ ...state }),
    token(stream, state) {
      if (state.commentDepth > 0) return inComment(stream, state);
      if (state.closing !== '') return inQuotes(stream, state, dialect);
      if (stream.eatSpace()) return null;
      if (stream.match('--')) {
        stream.skipToEnd();
        return 'comment';
      }
      if (stream.match('/*')) {
        state.commentDepth = 1;
        return inComment(stream, state);
      }
      const dollars = dialect.hasDollarQuotes ? stream.match(/^\$(?:[a-z_]\w*)?\$/i) : null;
      if (Array.isArray(dollars)) {
        state.closing = dollars[0];
        return inQuotes(stream, state, dialect);
      }
      const quote = stream.match(dialect.quote === '`' ? /^['"`]/ : /^['"]/);
      if (Array.isArray(quote)) {
        state.closing = quote[0];
        return inQuotes(stream, state, dialect);
      }
      if (stream.match(isNumber)) return 'number';
      const word = stream.match(isName);
      if (Array.isArray(word)) return kindOf(word[0].toLowerCase(), stream.match(/^\s*\(/, false) !== null);
      stream.next();
      return null;
    },
    languageData: { commentTokens: { line: '--', block: { open: '/*', close: '*/' } } },
  };
}

function inComment(stream: StringStream, state: TokenizerState): string {
  while (!stream.eol() && state.commentDepth > 0) {
    if (stream.match('*/')) state.commentDepth--;
    else if (stream.match('/*')) state.commentDepth++;
    else stream.next();
  }
  return 'comment';
}

function inQuotes(stream: StringStream, state: TokenizerState, { hasBackslashEscapes }: Dialect): string | null {
  const { closing } = state;
  const hasEscapes = hasBackslashEscapes && closing !== '`';
  while (!stream.eol()) {
    if (hasEscapes && stream.match('\\')) stream.next();
    else if (stream.match(closing)) {
      // A quote that is doubled is one in the text.
      if (closing.length === 1 && stream.match(closing)) continue;
      state.closing = '';
      break;
    } else stream.next();
  }
  return closing === '"' || closing === '`' ? 'name' : 'string';
}
