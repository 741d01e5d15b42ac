/** The size of a query's columns after engines have replaced each name by its expression. */
export interface ColumnSizes {
  /** By name, in lower case. */
  readonly byName: ReadonlyMap<string, number>;
  /** Size of all columns together, and of the largest. */
  readonly total: number;
  readonly largest: number;
  /** Size of all expressions, also those of WHERE and other clauses, without the unresolved names. */
  readonly expressions: number;
  /** Names that no query in FROM has: columns of a frame, or of the query around this one. */
  readonly open: readonly Name[];
}

/** The parts of a name, any of which may be the column's. */
type Name = readonly string[];
type Reference = Name | '*' | number;

/** The start of a selected item in the references, and its name. */
interface Item {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Of a frame, or of any source of unknown columns. */
export const unknownColumns: ColumnSizes = { byName: new Map(), total: 1, largest: 1, expressions: 1, open: [] };

/** The columns of one SELECT: those of its FROM, and all names in its expressions. */
export class SelectColumns {
  readonly #references: Reference[] = [];
  /** The number of copies of each in the engines' expanded text. */
  readonly #weights: number[] = [];
  readonly #items: Item[] = [];
  readonly #from = new Map<string, number>();
  #fromTotal = 0;
  /** Size for a name that is not among them. */
  #fromOther = 1;

  note(reference: Reference): void {
    this.#push(typeof reference === 'object' ? reference.map((part) => part.toLowerCase()) : reference);
  }

  #push(reference: Reference): void {
    this.#references.push(reference);
    this.#weights.push(1);
  }

  /** Engines write the text from `start` to `end` out this many times, also where it names no column. */
  repeat(start: number, end: number, times: number): void {
    if (times === 1) return;
    if (start === end && end === this.mark) {
      this.#push(1);
      end++;
    }
    for (let at = start; at < end; at++) this.#weights[at] = (this.#weights[at] ?? 1) * times;
  }

  /** Records a query used as a value: its size, and the names of this query that it may use. */
  noteQuery({ expressions, open }: ColumnSizes): void {
    this.#push(expressions);
    for (const name of open) this.#push(name);
  }

  /** The place of the next reference. */
  get mark(): number {
    return this.#references.length;
  }

  endItem(start: number, name: string): void {
    this.#items.push({ start, end: this.mark, name: name.toLowerCase() });
  }

  /** `isRenamed`: the names of its columns are unknown. `isLateral`: it may name columns of relations before it. */
  addRelation(
    { byName, total, largest, open }: ColumnSizes,
    { isRenamed = false, isLateral = false }: { readonly isRenamed?: boolean; readonly isLateral?: boolean } = {},
  ): void {
    const names = isLateral ? open : [];
    const fromAround = names.reduce((sum, name) => sum + (this.#found(name) ?? 0), 0);
    for (const [name, size] of byName) {
      this.#from.set(name, Math.max(this.#from.get(name) ?? 0, size + fromAround));
    }
    this.#fromTotal += total + fromAround;
    if (isRenamed) this.#raiseOther(largest + fromAround);
  }

  /** The result of a function or a reshaping in FROM over the references since `mark`. */
  addMade(mark: number): void {
    this.#raiseOther(this.#sizeOf(mark, this.mark));
    this.#fromTotal += this.#fromOther;
  }

  #raiseOther(size: number): void {
    this.#fromOther = Math.max(this.#fromOther, size);
  }

  /** Called at the end of a query: its select list is in front of FROM. */
  sizes(): ColumnSizes {
    const byName = new Map<string, number>();
    const raise = (name: string, size: number): void => {
      byName.set(name, Math.max(byName.get(name) ?? 0, size));
    };
    let [total, largest] = [0, 1];
    for (const { start, end, name } of this.#items) {
      if (this.#references.slice(start, end).includes('*')) for (const [each, size] of this.#from) raise(each, size);
      const size = Math.max(1, this.#sizeOf(start, end, byName));
      raise(name, size);
      total += size;
      largest = Math.max(largest, size);
    }
    const isOpen = (each: Reference): each is Name => typeof each === 'object' && this.#found(each) === undefined;
    const open = this.#references.filter(isOpen);
    // Each of them may also be a column that got its name in FROM.
    const expressions = this.#sizeOf(0, this.mark, byName) - (this.#fromOther > 1 ? 0 : open.length);
    return { byName, total, largest, expressions, open };
  }

  #sizeOf(start: number, end: number, items?: ReadonlyMap<string, number>): number {
    let sum = 0;
    for (let at = start; at < end; at++) sum += (this.#weights[at] ?? 1) * this.#sizeAt(at, items);
    return sum;
  }

  #sizeAt(at: number, items: ReadonlyMap<string, number> | undefined): number {
    const reference = this.#references[at] ?? 0;
    if (reference === '*') return this.#fromTotal;
    if (typeof reference === 'number') return reference;
    return this.#found(reference, items) ?? this.#fromOther;
  }

  #found(name: Name, items?: ReadonlyMap<string, number>): number | undefined {
    let found: number | undefined;
    for (const part of name) {
      const size = this.#from.get(part) ?? items?.get(part);
      if (size !== undefined) found = Math.max(found ?? 0, size);
    }
    return found;
  }
}

/** The columns of UNION and similar operations: the names of the first query, over rows of both. */
export function combinedColumns(first: ColumnSizes, second: ColumnSizes): ColumnSizes {
  const largest = Math.max(first.largest, second.largest);
  return {
    byName: new Map([...first.byName].map(([name, size]) => [name, Math.max(size, second.largest)])),
    total: Math.max(first.total, second.total),
    largest,
    expressions: first.expressions + second.expressions,
    open: [...first.open, ...second.open],
  };
}

/**
 * Functions whose arguments an engine writes out several times when it plans, by that number: nested in each other they grow so
 * fast that Sail has no memory left, or Spark plans for minutes. Measured.
 */
const groups: readonly (readonly [times: number, names: string])[] = [
  [
    2,
    `coalesce date_add date_diff date_sub datediff decode element_at equal_null get if ifnull left named_struct nullif nullifzero
    nvl nvl2 right shuffle startswith struct try_element_at zeroifnull`,
  ],
  [3, 'array_append array_prepend'],
  [16, 'array_insert'],
];

const repeats = new Map(groups.flatMap(([count, names]) => names.split(/\s+/).map((name) => [name, count] as const)));

/** The name in lower case. */
export function argumentRepeats(name: string): number {
  return repeats.get(name) ?? 1;
}
