/** How large the columns of a query become where engines put what a column stands for in the place of its name. */
export interface ColumnSizes {
  /** By name, in lower case. */
  readonly byName: ReadonlyMap<string, number>;
  /** Of all columns together, and of the largest. */
  readonly total: number;
  readonly largest: number;
  /** Of all expressions, also those of WHERE and other clauses, without the names that are left open. */
  readonly expressions: number;
  /** Names that no query in FROM has: columns of a frame, or of the query around this one. */
  readonly open: readonly Name[];
}

/** The parts of a name, any of which may be the column's. */
type Name = readonly string[];
type Reference = Name | '*' | number;

/** Where what is selected begins in the references, and its name. */
interface Item {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Of a frame, or of whatever else nothing is known of. */
export const unknownColumns: ColumnSizes = { byName: new Map(), total: 1, largest: 1, expressions: 1, open: [] };

/** The columns of one SELECT: those of its FROM, and all that its expressions name. */
export class SelectColumns {
  readonly #references: Reference[] = [];
  /** How often each stands in what engines make of the text. */
  readonly #weights: number[] = [];
  readonly #items: Item[] = [];
  readonly #from = new Map<string, number>();
  #fromTotal = 0;
  /** Of a name that is not among them. */
  #fromOther = 1;

  note(reference: Reference): void {
    this.#push(typeof reference === 'object' ? reference.map((part) => part.toLowerCase()) : reference);
  }

  #push(reference: Reference): void {
    this.#references.push(reference);
    this.#weights.push(1);
  }

  /** What was read from `start` to `end` is written out so often by engines, also where it names no column. */
  repeat(start: number, end: number, times: number): void {
    if (times === 1) return;
    if (start === end && end === this.mark) {
      this.#push(1);
      end++;
    }
    for (let at = start; at < end; at++) this.#weights[at] = (this.#weights[at] ?? 1) * times;
  }

  /** Notes a query that stands as a value: its size, and what it may name of this one. */
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

  /** `isRenamed`: its columns have names that are not told. `isLateral`: it may name columns of those before it. */
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

  /** What a function or a reshaping in FROM makes of the references since `mark`. */
  addMade(mark: number): void {
    this.#raiseOther(this.#sizeOf(mark, this.mark));
    this.#fromTotal += this.#fromOther;
  }

  #raiseOther(size: number): void {
    this.#fromOther = Math.max(this.#fromOther, size);
  }

  /** When all was read: what is selected stands before FROM. */
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

/** Of UNION and its kin: the names of the first query, over rows of both. */
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
