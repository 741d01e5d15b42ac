import type { SqlEngine } from './sql.ts';

export type EngineKind = 'duckdb' | 'questdb' | 'spark-connect';

/** What an engine says when it is asked how it is. */
export type EngineHealth =
  | {
      readonly state: 'up';
      readonly version: string | undefined;
      /** Statements that were given up and that the engine has not stopped yet. Default 0. */
      readonly unstopped?: number;
    }
  /** `problem` may be shown to anyone: no address, no password. */
  | { readonly state: 'down'; readonly problem: string };

/** An engine that the operator has given a name: callers choose it by that. */
export interface NamedEngine {
  readonly name: string;
  readonly kind: EngineKind;
  /** Asked anew each time, and answered within a few seconds whatever the engine does. */
  health(options: { readonly signal: AbortSignal }): Promise<EngineHealth>;
}

/** How many statements an engine elsewhere has from us. */
export interface EngineSlots {
  /** At once; more wait. */
  readonly limit: number;
  readonly busy: number;
  readonly waiting: number;
}

/** One that runs SQL over frames elsewhere. */
export interface ClusterEngine extends NamedEngine, AsyncDisposable {
  readonly sql: SqlEngine;
  readonly slots: EngineSlots;
}
