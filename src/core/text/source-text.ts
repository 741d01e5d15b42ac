import { type Token, type TokenizedText, tokenize } from './tokens.ts';

/** A part of a text, and its place in the text before. Length 0: the text from there on stands for that place. */
export interface TextPiece {
  readonly built: number;
  readonly written: number;
  readonly length: number;
}

/** A text to insert at an offset, in place of the next `length` characters (default: none). */
export interface TextEdit {
  readonly at: number;
  readonly length?: number;
  readonly text: string;
}

export interface Segment {
  readonly text: string;
  /** Its place in the text before; for text of ours, the place that it stands for. */
  readonly at?: number | undefined;
  readonly isOurs: boolean;
  /** It is a parameter of the macro that is being made: its number. */
  readonly parameter?: number | undefined;
}

interface Whole {
  readonly sql: string;
  readonly starts: readonly number[];
  readonly pieces: readonly TextPiece[];
}

interface TokenPart {
  readonly tokens: readonly Token[];
  readonly from: number;
  readonly to: number;
}

/** A text that knows where each part stood in another one, such as the caller's, and which parts are ours. */
export class SourceText {
  readonly segments: Segment[] = [];
  #length = 0;
  #whole: Whole | undefined;
  #tokens: readonly Token[] | undefined;
  /** The tokens of the statement that it is a part of. */
  #part: TokenPart | undefined;

  /** A part of a statement, between two of its tokens. */
  static partOf(statement: TokenizedText, from: number, to = statement.sql.length): SourceText {
    const text = new SourceText().callers(statement.sql, from, to);
    text.#part = { tokens: statement.tokens, from, to };
    return text;
  }

  get length(): number {
    return this.#length;
  }

  get sql(): string {
    return this.#all.sql;
  }

  get pieces(): readonly TextPiece[] {
    return this.#all.pieces;
  }

  /** Its tokens by DuckDB's rules. */
  get tokens(): readonly Token[] {
    this.#tokens ??= this.#part === undefined ? tokenize(this.sql) : tokensOf(this.#part);
    return this.#tokens;
  }

  /** Text of ours. `at`: the place that it stands for. */
  ours(text: string, at?: number): this {
    return this.add([{ text, at, isOurs: true }]);
  }

  /** A part of the other text. */
  callers(text: string, from = 0, to = text.length): this {
    return from < to ? this.add([{ text: text.slice(from, to), at: from, isOurs: false }]) : this;
  }

  /** Words of the other text, with a blank in place of each space and comment. */
  words(tokens: readonly WrittenWord[]): this {
    for (const [index, { start, text }] of tokens.entries()) {
      this.add([
        { text: spaceBefore(tokens, index), isOurs: true },
        { text, at: start, isOurs: false },
      ]);
    }
    return this;
  }

  add(segments: readonly Segment[]): this {
    for (const segment of segments) {
      if (segment.text === '') continue;
      this.segments.push(segment);
      this.#length += segment.text.length;
    }
    this.#whole = undefined;
    this.#tokens = undefined;
    this.#part = undefined;
    return this;
  }

  /** A part of this text. */
  slice(from: number, to = this.length): readonly Segment[] {
    const found: Segment[] = [];
    const { starts } = this.#all;
    for (let index = Math.max(0, lastUpTo(starts, from)); index < this.segments.length; index++) {
      const start = starts[index] ?? 0;
      if (start >= to) break;
      const { text, at, isOurs, ...rest } = this.segments[index] as Segment;
      const first = Math.max(0, from - start);
      const isMoved = at !== undefined && !isOurs;
      found.push({ ...rest, text: text.slice(first, to - start), at: isMoved ? at + first : at, isOurs });
    }
    return found;
  }

  /** Inserted text stands for the place where it is inserted. The edits are in order. */
  edited(edits: readonly TextEdit[]): SourceText {
    const text = new SourceText();
    let from = 0;
    for (const { at, length = 0, text: added } of edits) {
      text.add(this.slice(from, at)).ours(added, this.nearest(at));
      from = at + length;
    }
    return text.add(this.slice(from));
  }

  /** The same text with its places in the text before `other`, of which it has parts. */
  within(other: SourceText): SourceText {
    const text = new SourceText();
    for (const segment of this.segments) {
      const { at, isOurs } = segment;
      if (at === undefined) text.add([segment]);
      else if (isOurs) text.add([{ ...segment, at: other.nearest(at) }]);
      else text.add(other.slice(at, at + segment.text.length));
    }
    return text;
  }

  /** The place of an offset in the other text, or the nearest that has one. */
  nearest(at: number): number {
    const piece = this.pieces[Math.max(0, lastUpTo(this.pieces, at, builtOf))];
    return piece === undefined ? 0 : piece.written + Math.min(Math.max(0, at - piece.built), piece.length);
  }

  get #all(): Whole {
    if (this.#whole !== undefined) return this.#whole;
    const starts: number[] = [];
    const pieces: TextPiece[] = [];
    let built = 0;
    for (const { text, at, isOurs } of this.segments) {
      starts.push(built);
      if (at !== undefined) pieces.push({ built, written: at, length: isOurs ? 0 : text.length });
      built += text.length;
    }
    this.#whole = { sql: this.segments.map(({ text }) => text).join(''), starts, pieces };
    return this.#whole;
  }
}

/** The index of the token that begins at an offset; -1 if none does. */
export function tokenIndex(tokens: readonly WrittenWord[], at: number): number {
  const index = lastUpTo(tokens, at, ({ start }) => start);
  return tokens[index]?.start === at ? index : -1;
}

function tokensOf({ tokens, from, to }: TokenPart): readonly Token[] {
  const own = tokens.filter(({ start, end }) => start >= from && end <= to);
  return from === 0 ? own : own.map((token) => ({ ...token, start: token.start - from, end: token.end - from }));
}

interface WrittenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The text of the words, with a blank in place of each space and comment. */
export function textOf(tokens: readonly WrittenWord[]): string {
  return tokens.map(({ text }, index) => spaceBefore(tokens, index) + text).join('');
}

function spaceBefore(tokens: readonly WrittenWord[], index: number): string {
  const [before, token] = [tokens[index - 1], tokens[index]];
  return before !== undefined && token !== undefined && before.end < token.start ? ' ' : '';
}

/** The text of a caller with these edits, which are in order. */
export function editedText(sql: string, edits: readonly TextEdit[]): SourceText {
  return new SourceText().callers(sql).edited(edits);
}

/** The place of an offset in the caller's text, if it has one there. */
export function placeIn(pieces: readonly TextPiece[], at: number): number | undefined {
  const piece = pieces[lastUpTo(pieces, at, builtOf)];
  return piece === undefined || at > piece.built + piece.length ? undefined : piece.written + at - piece.built;
}

const builtOf = ({ built }: TextPiece): number => built;

/** The index of the last item that is not above the limit; -1 if all are. */
function lastUpTo<T>(items: readonly T[], limit: number, keyOf: (item: T) => number = Number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keyOf(items[middle] as T) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
