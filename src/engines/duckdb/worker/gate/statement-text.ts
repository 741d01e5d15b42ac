import type { Token } from './tokenizer.ts';

/** Text that a caller wrote, cut behind the one statement in it. */
export interface StatementText {
  /** Begins where the caller's text begins, so that positions are the same in both. */
  readonly sql: string;
  readonly tokens: readonly Token[];
}
