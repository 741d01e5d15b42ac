type Kind = 'a boolean' | 'a number' | 'a text' | 'an object or an array';

/**
 * The kinds of values in the columns of rows. A frame would take numbers beside texts as JSON, and NaN, which JSON has not, as a
 * text. `typed`: columns with named types; they are not checked.
 */
export class ColumnKinds {
  /** Columns of numbers with NaN or infinity among them. */
  readonly notFinite = new Set<string>();
  readonly #typed: ReadonlySet<string>;
  readonly #kinds = new Map<string, Kind>();
  readonly #large = new Set<string>();
  #rows = 0;

  constructor(typed: Iterable<string>) {
    this.#typed = new Set(typed);
  }

  /** Throws where a column has values of two kinds. */
  add(row: Readonly<Record<string, unknown>>): void {
    this.#rows += 1;
    for (const name of Object.keys(row)) {
      const value = row[name];
      const kind = kindOf(value);
      if (kind === undefined || this.#typed.has(name)) continue;
      const before = this.#kinds.get(name);
      if (before === undefined) this.#kinds.set(name, kind);
      else if (before !== kind) {
        const what = `column ${JSON.stringify(name)} has ${before}, and in row ${this.#rows - 1} ${kind}`;
        const type = [before, kind].includes('an object or an array') ? 'JSON' : 'VARCHAR';
        throw new TypeError(`${what}: convert them to one kind, or ${namedType(name, type)}`);
      }
      if (typeof value === 'number' && !Number.isFinite(value)) this.notFinite.add(name);
      if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) this.#large.add(name);
      if (this.notFinite.has(name) && this.#large.has(name)) {
        const what = `column ${JSON.stringify(name)} has NaN or infinity beside whole numbers beyond 2^53`;
        throw new TypeError(`${what}, and a DOUBLE rounds those: ${namedType(name, 'DOUBLE')} where it may`);
      }
    }
  }
}

/** The remedy, as an option of `put`. */
export function namedType(name: string, type: string): string {
  return `name its type: ${JSON.stringify({ types: { [name]: type } })}`;
}

function kindOf(value: unknown): Kind | undefined {
  switch (typeof value) {
    case 'boolean':
      return 'a boolean';
    case 'number':
    case 'bigint':
      return 'a number';
    case 'string':
      return 'a text';
    case 'object':
      if (value === null) return undefined;
      return value instanceof Date || value instanceof Uint8Array ? 'a text' : 'an object or an array';
    default:
      // Absent, or not a value, which is reported when it is written.
      return undefined;
  }
}
