import { FrameholdError } from '#client/errors.ts';
import { isAbort } from '../api/api-error.ts';
import type { Cell, GridSource } from './grid-source.ts';

type Rows = readonly (readonly Cell[])[];

const maxUnderWay = 3;
const maxRowsOfPage = 200;
const cellsOfPage = 20_000;
const cellsOfCache = 1_000_000;
/** Of texts in the cache. */
const maxCharacters = 100_000_000;
const retryMs = 2000;

export interface PageCacheEvents {
  /** Rows [from, to) are available now. */
  onRows(from: number, to: number): void;
  /** undefined: the last one is over. */
  onError(error: unknown): void;
}

/** The last shown pages of a table, and the requested ones. A page is of one block of columns. */
export class PageCache {
  readonly rowsOfPage: number;
  readonly #blockColumns: number;
  readonly #blockCount: number;
  readonly #source: GridSource;
  readonly #events: PageCacheEvents;
  readonly #maxPages: number;
  /** The one used last is at the end. */
  readonly #pages = new Map<number, Rows>();
  /** Characters of the texts of each page. */
  readonly #characters = new Map<number, number>();
  readonly #underWay = new Map<number, AbortController>();
  readonly #failed = new Set<number>();
  #wanted: readonly number[] = [];
  /** Number of visible ones, from the first on. */
  #seen = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(source: GridSource, events: PageCacheEvents) {
    this.#source = source;
    this.#events = events;
    const columns = Math.max(1, source.columns.length);
    this.#blockColumns = source.blocks?.columns ?? columns;
    this.#blockCount = Math.ceil(columns / this.#blockColumns);
    this.rowsOfPage = Math.min(maxRowsOfPage, Math.max(20, Math.floor(cellsOfPage / this.#blockColumns)));
    this.#maxPages = Math.max(8, Math.floor(cellsOfCache / (this.rowsOfPage * this.#blockColumns)));
  }

  /** Cells of missing blocks are left out. */
  row(index: number): readonly Cell[] | undefined {
    const stretch = Math.floor(index / this.rowsOfPage);
    const at = index - stretch * this.rowsOfPage;
    if (this.#blockCount === 1) return this.#pages.get(stretch)?.[at];
    const row: Cell[] = [];
    for (let block = 0; block < this.#blockCount; block++) {
      const cells = this.#pages.get(stretch * this.#blockCount + block)?.[at] ?? [];
      for (const [column, cell] of cells.entries()) row[block * this.#blockColumns + column] = cell;
    }
    return row.length === 0 ? undefined : row;
  }

  /** Asks for rows [from, to), of columns [firstColumn, endColumn), and their neighbours, and no longer for any other. */
  want(from: number, to: number, firstColumn = 0, endColumn = 1): void {
    const first = Math.floor(from / this.rowsOfPage);
    const last = Math.max(first, Math.floor((to - 1) / this.rowsOfPage));
    const firstBlock = Math.floor(firstColumn / this.#blockColumns);
    const lastBlock = Math.max(firstBlock, Math.floor((endColumn - 1) / this.#blockColumns));
    const blocks = Array.from({ length: lastBlock - firstBlock + 1 }, (_, index) => firstBlock + index);
    const pagesOf = (stretch: number): number[] => blocks.map((block) => stretch * this.#blockCount + block);
    const wanted = Array.from({ length: last - first + 1 }, (_, index) => first + index).flatMap(pagesOf);
    for (const page of wanted) this.#touch(page);
    this.#wanted = [...wanted, ...pagesOf(last + 1), ...pagesOf(first - 1)];
    this.#seen = wanted.length;
    for (const [page, controller] of this.#underWay) if (!this.#wanted.includes(page)) controller.abort();
    this.#ask();
  }

  /** After an error. */
  retry(): void {
    clearTimeout(this.#retry);
    this.#failed.clear();
    this.#events.onError(undefined);
    this.#ask();
  }

  dispose(): void {
    clearTimeout(this.#retry);
    this.#wanted = [];
    for (const controller of this.#underWay.values()) controller.abort();
  }

  #touch(page: number): void {
    const rows = this.#pages.get(page);
    if (rows === undefined) return;
    this.#pages.delete(page);
    this.#pages.set(page, rows);
  }

  #keep(page: number, rows: Rows): void {
    this.#pages.set(page, rows);
    this.#characters.set(page, charactersOf(rows));
    let characters = 0;
    for (const each of this.#characters.values()) characters += each;
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= this.#maxPages && characters <= maxCharacters) break;
      if (this.#wanted.includes(oldest)) continue;
      characters -= this.#characters.get(oldest) ?? 0;
      this.#pages.delete(oldest);
      this.#characters.delete(oldest);
    }
  }

  #ask(): void {
    const rowCount = this.#source.rowCount.peek();
    for (const [index, page] of this.#wanted.entries()) {
      if (this.#underWay.size >= maxUnderWay) return;
      // Neighbours do not compete with pages that the user waits for.
      if (index === this.#seen && this.#wanted.slice(0, index).some((seen) => this.#underWay.has(seen))) return;
      const from = Math.floor(page / this.#blockCount) * this.rowsOfPage;
      const length = Math.min(this.rowsOfPage, rowCount - from);
      const isWhole = (this.#pages.get(page)?.length ?? 0) >= length;
      if (page < 0 || length <= 0 || isWhole || this.#underWay.has(page) || this.#failed.has(page)) continue;
      void this.#load(page, from, from + length);
    }
  }

  async #load(page: number, from: number, to: number): Promise<void> {
    const controller = new AbortController();
    this.#underWay.set(page, controller);
    try {
      const { blocks } = this.#source;
      const rows = await (blocks === undefined
        ? this.#source.rows(from, to, controller.signal)
        : blocks.rows(page % this.#blockCount, from, to, controller.signal));
      if (controller.signal.aborted) return;
      this.#keep(page, rows);
      this.#events.onRows(from, from + rows.length);
    } catch (error) {
      if (controller.signal.aborted || isAbort(error)) return;
      this.#failed.add(page);
      this.#events.onError(error);
      if (isPassing(error)) {
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => this.retry(), retryMs);
      }
    } finally {
      this.#underWay.delete(page);
      this.#ask();
    }
  }
}

/** The server is away, or has too much to do. */
function isPassing(error: unknown): boolean {
  return error instanceof FrameholdError && [undefined, 429, 502, 503].includes(error.status);
}

function charactersOf(rows: Rows): number {
  let characters = 0;
  for (const row of rows) {
    for (const cell of row) if (typeof cell === 'string') characters += cell.length;
  }
  return characters;
}
