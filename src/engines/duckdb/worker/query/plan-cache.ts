import type { PreparedStatement } from '@framehold/duckdb';

const mostKept = 64;

/** Statements with their plans: drivers prepare each one before they run it, and dashboards repeat the same again and again. */
export class PlanCache {
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

  /** The caller disposes of the statement. */
  take(key: string): PreparedStatement | undefined {
    const statement = this.#kept.get(key);
    this.#kept.delete(key);
    return statement;
  }
}
