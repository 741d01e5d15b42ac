import type { Cleanup } from '../../src/core/async/cleanup.ts';
import type { Lab } from './lab.ts';
import type { LoadSecond } from './latencies.ts';
import type { Usage } from './process-tree.ts';

/** The result of one contender in one round. */
export interface Reading {
  /** In the unit of the case. */
  readonly value: number;
  readonly usage: Usage;
  /** Further numbers, for the JSON file; `p50Ms` and `p99Ms` are also in the table. */
  readonly details: Readonly<Record<string, number>>;
  /** Each whole second of a load, for the JSON file and the plots. */
  readonly bySecond?: readonly LoadSecond[];
}

export interface Contender {
  readonly name: string;
  /** Untimed work: a restart, a warm-up. */
  beforeRound?(round: number): Promise<void>;
  measure(round: number): Promise<Reading>;
}

/** The bar of a case. */
export type Bar =
  /** The speed of a contender (default: the first one), as a multiple of another's. */
  | { readonly kind: 'ratio'; readonly of?: string; readonly against: string; readonly atLeast: number }
  /** A ceiling, in the unit of the case. */
  | { readonly kind: 'ceiling'; readonly of: string; readonly atMost: number }
  /** A floor, in the unit of the case. */
  | { readonly kind: 'floor'; readonly of: string; readonly atLeast: number }
  /** Most difference to another, in the unit of the case. */
  | { readonly kind: 'margin'; readonly of: string; readonly over: string; readonly atMost: number };

/** The running servers of a case: the contenders, ours first. */
export interface Bout {
  readonly contenders: readonly Contender[];
  /** Called before anything is timed. Rejects if the answers differ; resolves with a description of the comparison. */
  verify(): Promise<string>;
}

export interface BenchCase {
  readonly name: string;
  readonly title: string;
  readonly unit: 'requests/s' | 'rows/s' | 's' | 'ms' | 'MB' | 'bytes/byte';
  readonly better: 'higher' | 'lower';
  readonly rounds: number;
  readonly bars: readonly Bar[];
  /** Starts the servers of the case; `cleanup` stops them. */
  prepare(lab: Lab, cleanup: Cleanup): Promise<Bout>;
}
