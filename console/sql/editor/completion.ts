import { formatCount } from '../../widgets/format.ts';
import { revealedText } from '../../widgets/hidden-characters.ts';
import { type Dialect, wordsOf } from './dialects.ts';

/** A frame that can be completed, and its columns. */
export interface CompletedFrame {
  readonly name: string;
  /** Null if it cannot be read, undefined if it was not counted. */
  readonly rows: number | null | undefined;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Made once for a listing of frames. */
export interface FrameIndex {
  readonly frames: readonly CompletedFrame[];
  /** The names in lower case, each behind a line break: one search of a text is quicker than one of each name. */
  readonly text: string;
  /** Start of each frame's line in `text`. */
  readonly lineStarts: readonly number[];
  readonly byLowerName: ReadonlyMap<string, CompletedFrame>;
}

export interface CompletionOption {
  readonly label: string;
  /** With signs, where the label has characters that are not seen. */
  readonly displayLabel?: string;
  readonly type: 'frame' | 'column' | 'function' | 'keyword' | 'type';
  readonly detail?: string;
  /** The inserted text, if it is not the label. */
  readonly apply?: string;
}

export interface Completions {
  /** Number of characters before the cursor that are replaced. */
  readonly replaced: number;
  readonly options: readonly CompletionOption[];
}

export const mostOptions = 200;
/** Characters around the cursor that are read. */
export const reach = 4000;
const longestWord = 200;

export const emptyIndex: FrameIndex = indexOf([]);

export function indexOf(frames: readonly CompletedFrame[]): FrameIndex {
  const lowerNames = frames.map(({ name }) => name.toLowerCase());
  const byLowerName = new Map(frames.map((frame, at) => [lowerNames[at] ?? '', frame]));
  let length = 0;
  const lineStarts = lowerNames.map((name) => {
    const start = length;
    length += 1 + name.length;
    return start;
  });
  return { frames, text: lowerNames.map((name) => `\n${name}`).join(''), lineStarts, byLowerName };
}

/** The frames whose lines contain a text, in their order. */
function* framesWith(searched: string, { frames, text, lineStarts }: FrameIndex): Generator<CompletedFrame> {
  let from = 0;
  for (;;) {
    const found = text.indexOf(searched, from);
    if (found < 0) return;
    const line = lastAtMost(lineStarts, found);
    const frame = frames[line];
    if (frame !== undefined) yield frame;
    from = lineStarts[line + 1] ?? text.length;
  }
}

/** The place of the last number that is not above a limit; the numbers ascend. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const token = /"(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|--[^\n]*|[\p{L}_][\p{L}\d_$]*|[^\s]/gu;

/**
 * The completions at the cursor. `before` and `after` are the text around it; only `reach` characters of each are read, so that
 * it takes the same time in a long text.
 */
export function completionsAt(
  before: string,
  after: string,
  index: FrameIndex,
  dialect: Dialect,
): Completions | undefined {
  const head = before.slice(-reach);
  const typed = /(?:^|[^\p{L}\d_$"`])(["`]?[\p{L}\d_$.]*)$/u.exec(head.slice(-longestWord))?.[1] ?? '';
  const isQuoted = /^["`]/.test(typed);
  const dotAt = isQuoted ? -1 : typed.lastIndexOf('.');
  const word = dotAt < 0 ? typed : typed.slice(dotAt + 1);
  if (/^\d/.test(word)) return undefined;
  const bare = word.replace(/^["`]/, '').toLowerCase();
  const statement = `${head.slice(head.lastIndexOf(';') + 1)}\u0000${statementRest(after)}`;
  const named = namedFrames(statement, index);
  const found = new OptionList(bare);
  if (dotAt >= 0) {
    const qualifier = typed.slice(0, dotAt).toLowerCase();
    for (const frame of named.get(qualifier) ?? []) found.addColumns(frame, dialect, isQuoted);
    found.addFramesOf(qualifier, index, dialect);
    return { replaced: word.length, options: found.options };
  }
  const previous = /([\p{L}_]+|,)\s*$/u
    .exec(head.slice(-2 * longestWord, head.length - typed.length))?.[1]
    ?.toLowerCase();
  const wantsFrame = previous !== undefined && /^(?:from|join|into|table|describe|summarize)$/.test(previous);
  if (!wantsFrame) {
    for (const frames of new Set(named.values()))
      for (const frame of frames) found.addColumns(frame, dialect, isQuoted);
  }
  if (wantsFrame || bare !== '') found.addFrames(index, dialect, isQuoted);
  if (!isQuoted && bare !== '') {
    const isUpper = word === word.toUpperCase();
    found.addWords(keywordsOf(dialect), 'keyword', (name) => (isUpper ? name.toUpperCase() : name));
    found.addWords(functionsOf(dialect), 'function', (name) => name);
    found.addWords(typesOf(dialect), 'type', (name) => (isUpper ? name.toUpperCase() : name));
  }
  return { replaced: word.length, options: found.options };
}

class OptionList {
  readonly options: CompletionOption[] = [];
  readonly #prefix: string;
  readonly #seen = new Set<string>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  addColumns(frame: CompletedFrame, dialect: Dialect, isQuoted: boolean): void {
    for (const { name, type } of frame.columns) {
      if (this.options.length >= mostOptions) return;
      if (!name.toLowerCase().startsWith(this.#prefix)) continue;
      const shown = revealedText(name);
      const written = applied(name, dialect, isQuoted);
      this.#add({
        label: name,
        ...(shown !== name && { displayLabel: shown }),
        type: 'column',
        detail: type,
        ...written,
      });
    }
  }

  /** Names with this prefix first, then those that contain it. */
  addFrames(index: FrameIndex, dialect: Dialect, isQuoted: boolean): void {
    if (this.options.length >= mostOptions) return;
    for (const searched of this.#prefix.length > 1 ? [`\n${this.#prefix}`, this.#prefix] : [`\n${this.#prefix}`]) {
      for (const { name, rows } of framesWith(searched, index)) {
        const apply = sharedName(name, dialect);
        this.#add({
          label: name,
          type: 'frame',
          detail: countOf(rows),
          ...(apply ? { apply } : applied(name, dialect, isQuoted)),
        });
        if (this.options.length >= mostOptions) return;
      }
    }
  }

  /** Frames listed as `owner/trades`, behind `owner.`. */
  addFramesOf(owner: string, index: FrameIndex, dialect: Dialect): void {
    const searched = `\n${owner}/${this.#prefix}`;
    for (const { name, rows } of framesWith(searched, index)) {
      if (this.options.length >= mostOptions) return;
      const handle = name.slice(owner.length + 1);
      this.#add({ label: handle, type: 'frame', detail: countOf(rows), ...applied(handle, dialect, false) });
    }
  }

  addWords(words: readonly string[], type: CompletionOption['type'], written: (name: string) => string): void {
    for (const name of words) {
      if (this.options.length >= mostOptions) return;
      if (name.toLowerCase().startsWith(this.#prefix)) this.#add({ label: written(name), type });
    }
  }

  #add(option: CompletionOption): void {
    const key = option.label.toLowerCase();
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.options.push(option);
  }
}

function countOf(rows: CompletedFrame['rows']): string {
  if (rows === undefined) return 'table';
  return rows === null ? 'damaged' : `${formatCount(rows)} rows`;
}

function applied(name: string, dialect: Dialect, isQuoted: boolean): { readonly apply?: string } {
  const written = isQuoted ? quoted(name, dialect) : quotedName(name, dialect);
  return written === name ? {} : { apply: written };
}

/** `owner/trades` is `owner.trades` in a statement. */
function sharedName(name: string, dialect: Dialect): string | undefined {
  const [owner, handle] = name.split('/');
  if (owner === undefined || handle === undefined) return undefined;
  return `${owner === 'default' ? quoted(owner, dialect) : quotedName(owner, dialect)}.${quotedName(handle, dialect)}`;
}

/** A name as a statement needs it. */
function quotedName(name: string, dialect: Dialect): string {
  return /^[a-z_][a-z\d_]*$/i.test(name) && !keywordsOf(dialect).includes(name.toLowerCase())
    ? name
    : quoted(name, dialect);
}

function quoted(name: string, { quote }: Dialect): string {
  return `${quote}${name.replaceAll(quote, quote + quote)}${quote}`;
}

/** The frames that a statement names, by their names and aliases in lower case. */
export function namedFrames(statement: string, index: FrameIndex): ReadonlyMap<string, readonly CompletedFrame[]> {
  const named = new Map<string, readonly CompletedFrame[]>();
  const tokens = [...statement.matchAll(token)].map(([text]) => text).filter((text) => !text.startsWith('--'));
  for (const [at, text] of tokens.entries()) {
    const name = bareName(text);
    if (name === undefined) continue;
    // `owner.trades` is listed as `owner/trades`.
    const owner = tokens[at - 1] === '.' ? bareName(tokens[at - 2]) : undefined;
    const frame = index.byLowerName.get(`${owner}/${name}`) ?? index.byLowerName.get(name);
    if (frame === undefined) continue;
    named.set(name, [frame]);
    const next = tokens[at + 1];
    const alias = bareName(next?.toLowerCase() === 'as' ? tokens[at + 2] : next);
    if (alias !== undefined && !aliasEnds.has(alias)) named.set(alias, [frame]);
  }
  return named;
}

/** Words that follow a table and are not its alias. */
const aliasEnds = new Set(
  wordsOf(`where group order limit join inner left right full cross natural asof on using union except intersect having
    window qualify sample lateral semi anti positional select from latest pivot unpivot and or as values`),
);

function bareName(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^["`]/.test(text)) return text.length > 1 ? text.slice(1, -1).toLowerCase() : undefined;
  return /^[\p{L}_]/u.test(text) ? text.toLowerCase() : undefined;
}

function statementRest(after: string): string {
  const rest = after.slice(0, reach);
  const end = rest.indexOf(';');
  return end < 0 ? rest : rest.slice(0, end);
}

const listed = new Map<string, readonly string[]>();

function listOf(text: string): readonly string[] {
  const known = listed.get(text);
  if (known !== undefined) return known;
  const words = [...new Set(wordsOf(text))].sort();
  listed.set(text, words);
  return words;
}

const keywordsOf = (dialect: Dialect): readonly string[] => listOf(dialect.keywords);
const functionsOf = (dialect: Dialect): readonly string[] => listOf(dialect.functions);
const typesOf = (dialect: Dialect): readonly string[] => listOf(dialect.types);
