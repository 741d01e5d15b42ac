import type { PreparedStatement } from './session.ts';

const mostKept = 16;

/** Statements that were planned to be described, for the run that mostly follows: drivers prepare every statement first. */
export class KeptStatements {
  readonly #kept = new Map<string, PreparedStatement>();

  keep(key: string, statement: PreparedStatement): void {
    this.take(key)?.[Symbol.dispose]();
    this.#kept.set(key, statement);
    for (const [oldest, kept] of this.#kept) {
      if (this.#kept.size <= mostKept) break;
      this.#kept.delete(oldest);
      kept[Symbol.dispose]();
    }
  }

  clear(): void {
    for (const statement of this.#kept.values()) statement[Symbol.dispose]();
    this.#kept.clear();
  }

  /** Who takes one disposes of it. */
  take(key: string): PreparedStatement | undefined {
    const statement = this.#kept.get(key);
    this.#kept.delete(key);
    return statement;
  }
}
