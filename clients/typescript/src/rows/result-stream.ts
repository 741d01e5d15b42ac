import { type Column, decoderOf, mayRound } from './cells.ts';
import { parseExactJson } from './exact-json.ts';
import { RowText } from './row-text.ts';

/** The fields beside the rows: `columns` before them; `count`, `updated`, `engine` and so on behind them. */
export type Facts = Readonly<Record<string, unknown>>;

const rowsKey = '"dataset":[';

/** An answer of the shape of /exec, read as it comes. */
export class ResultStream {
  readonly columns: readonly Column[];
  /** Grows when the rows have been read. */
  facts: Facts;
  readonly #pieces: AsyncIterator<string>;
  readonly #text: RowText | undefined;
  #first: string;
  #isRead = false;

  private constructor(facts: Facts, pieces: AsyncIterator<string>, first: string | undefined) {
    this.facts = facts;
    this.columns = (facts.columns ?? []) as readonly Column[];
    this.#pieces = pieces;
    this.#text = first === undefined ? undefined : new RowText();
    this.#first = first ?? '';
  }

  /** Reads up to the first row. An answer without rows is read whole. */
  static async open(body: AsyncIterable<Uint8Array>): Promise<ResultStream> {
    const pieces = textOf(body)[Symbol.asyncIterator]();
    let text = '';
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) return new ResultStream(JSON.parse(text) as Facts, pieces, undefined);
      // A key in quotes of its own: within a string they would have backslashes before them.
      const searchedFrom = Math.max(0, text.length - rowsKey.length);
      text += value;
      const at = text.indexOf(rowsKey, searchedFrom);
      if (at < 0) continue;
      const first = at + rowsKey.length;
      return new ResultStream(JSON.parse(`${text.slice(0, first)}]}`) as Facts, pieces, text.slice(first));
    }
  }

  /** The rows, in groups as they arrive. They are read once. */
  async *batches(): AsyncGenerator<readonly unknown[][], void, undefined> {
    if (this.#isRead) throw new TypeError('these rows were read before; they come once');
    this.#isRead = true;
    const text = this.#text;
    if (text === undefined) return;
    const isExact = this.columns.some(mayRound);
    const parse = isExact ? parseExactJson : JSON.parse;
    const decode = batchDecoder(this.columns.map((column) => decoderOf(column, isExact)));
    try {
      for (let piece: string | undefined = this.#first; piece !== undefined; piece = await this.#next()) {
        const rows = text.push(piece);
        if (rows !== '') yield decode(parse(`[${rows}]`) as unknown[][]);
      }
    } finally {
      await this.close();
    }
    if (!text.isOver) throw new SyntaxError('the rows end early');
    this.facts = { ...this.facts, ...(JSON.parse(`{"dataset":[]${text.behind}`) as Facts) };
  }

  /** Drops the unread rest. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #next(): Promise<string | undefined> {
    const { done, value } = await this.#pieces.next();
    return done === true ? undefined : value;
  }
}

function batchDecoder(decoders: readonly ReturnType<typeof decoderOf>[]): (rows: unknown[][]) => readonly unknown[][] {
  const places = [...decoders.keys()].filter((at) => decoders[at] !== undefined);
  if (places.length === 0) return (rows) => rows;
  return (rows) => {
    for (const row of rows) {
      for (const at of places) {
        const cell = row[at];
        if (cell !== null) row[at] = decoders[at]?.(cell);
      }
    }
    return rows;
  };
}

async function* textOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const piece of body) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
