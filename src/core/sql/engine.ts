import type { SqlEngine } from './sql.ts';

export type EngineKind = 'duckdb' | 'questdb' | 'spark-connect';

/** An engine's answer to a health check. */
export type EngineHealth =
  | {
      readonly state: 'up';
      readonly version: string | undefined;
      /** Abandoned statements that the engine has not stopped yet. Default 0. */
      readonly unstopped?: number;
    }
  /** `problem` may be shown to anyone: no address, no password. */
  | { readonly state: 'down'; readonly problem: string };

/** An engine that the operator has given a name: callers choose it by that. */
export interface NamedEngine {
  readonly name: string;
  readonly kind: EngineKind;
  /** Checked anew each time, with a result within a few seconds even if the engine hangs. */
  health(options: { readonly signal: AbortSignal }): Promise<EngineHealth>;
}

/** Statements that this server runs on an engine elsewhere. */
export interface EngineSlots {
  /** At once; more wait. */
  readonly limit: number;
  readonly busy: number;
  readonly waiting: number;
}

/** An engine that runs SQL over frames elsewhere. */
export interface ClusterEngine extends NamedEngine, AsyncDisposable {
  readonly sql: SqlEngine;
  readonly slots: EngineSlots;
}
