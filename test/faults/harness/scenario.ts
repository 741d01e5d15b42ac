import type { Random } from './random.ts';

export type Size = 'ci' | 'release';

/** A promise of the server and a way to put it to the test, small in CI and large before a release. */
export interface Scenario {
  /** Of the acceptance table where it stands there, such as `D1`; unique. */
  readonly id: string;
  /** A proposition; the name of the test. */
  readonly promise: string;
  /** How often what the scenario does is done. 0 in CI: it measures the machine, and runs in `npm run torture` only. */
  readonly rounds: Readonly<Record<Size, number>>;
  /** What a round may take, in seconds, on a slow machine. */
  readonly secondsPerRound: number;
  /** What must be there for it to run; where it is missing the scenario is left out, except in CI. */
  readonly needs?: readonly Need[];
  /** Rejects where the promise is broken. */
  run(trial: Trial): Promise<Figures>;
}

export type Need = 'mount' | 'strace' | 'questdb' | 'python';

export interface Trial {
  readonly rounds: number;
  readonly size: Size;
  readonly random: Random;
  /** For whoever watches; nothing is promised by it. */
  progress(text: string): void;
}

/** What was counted and measured, for the report: `{ acks: 5120, lost: 0 }`. Units stand in the names. */
export type Figures = Readonly<Record<string, number>>;

export class BrokenPromise extends Error {
  override name = 'BrokenPromise';
}

/** Fails the trial unless `isKept`. */
export function promised(isKept: boolean, what: string, found?: unknown): asserts isKept {
  if (isKept) return;
  throw new BrokenPromise(found === undefined ? what : `${what}: ${JSON.stringify(found)?.slice(0, 2000)}`);
}
