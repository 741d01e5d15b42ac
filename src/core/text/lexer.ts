/** A rule of a lexicon: a kind of token, and the pattern of its text. Some kinds are read in a way of their own. */
export type LexicalRule<K extends string> = readonly [
  kind:
    | K
    | 'comment'
    /** Begins a comment in which others may be. */
    | 'nested'
    /** Begins a string that ends with the same text. */
    | 'tagged'
    /** Begins a quote or comment that has no end. */
    | 'open',
  pattern: string,
];

/** The tokens of a dialect: of the rules in order, the first that matches counts. */
export interface Lexicon<K extends string> {
  readonly space: RegExp;
  readonly kinds: readonly LexicalRule<K>[0][];
  /** A group for each kind. */
  readonly pattern: RegExp;
}

/** `space`: the pattern of a character between tokens. */
export function lexicon<K extends string>(space: string, ...rules: readonly LexicalRule<K>[]): Lexicon<K> {
  const pattern = new RegExp(rules.map(([, source]) => `(${source})`).join('|'), 'y');
  return { space: new RegExp(`${space}+`, 'y'), kinds: rules.map(([kind]) => kind), pattern };
}

/** Space is left out. `other`: a character that no rule has. */
export type Lexeme<K extends string> = K | 'comment' | 'open' | 'other';

/** Takes the lexemes of a text in their order; false ends the reading. Nothing is read behind one that is `open`. */
export type TakeLexeme<K extends string> = (kind: Lexeme<K>, start: number, end: number) => unknown;

/** Called with each mark inside of a comment, the comment's start, where the mark ends, and the depth behind it. */
export type OnMark = (mark: string, start: number, end: number, depth: number) => void;

/** Cuts a text by the rules of a dialect. */
export function lex<K extends string>(
  text: string,
  { space, kinds, pattern }: Lexicon<K>,
  take: TakeLexeme<K | 'string'>,
  onMark?: OnMark,
): void {
  let end = 0;
  for (let start = 0; start < text.length; start = end) {
    space.lastIndex = start;
    if (space.test(text)) {
      end = space.lastIndex;
      continue;
    }
    pattern.lastIndex = start;
    const found = pattern.exec(text);
    let group = 1;
    while (found !== null && found[group] === undefined) group++;
    const kind = found === null ? 'other' : (kinds[group - 1] as LexicalRule<K>[0]);
    end = found === null ? start + 1 : pattern.lastIndex;
    let lexeme = kind as Lexeme<K | 'string'>;
    if (kind === 'nested') {
      lexeme = 'comment';
      end = commentEnd(text, start, onMark);
    } else if (kind === 'tagged') {
      lexeme = 'string';
      const close = text.indexOf(text.slice(start, end), end);
      end = close < 0 ? close : close + end - start;
    }
    const isOpen = kind === 'open' || end < 0;
    if (isOpen) end = text.length;
    if (take(isOpen ? 'open' : lexeme, start, end) === false || isOpen) return;
  }
}

/** Below 0 if it has none. Comments nest, for every engine. */
function commentEnd(text: string, start: number, onMark?: OnMark): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
    onMark?.(found[0], start, marks.lastIndex, depth);
  }
  return -1;
}
