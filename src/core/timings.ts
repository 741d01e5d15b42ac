/** Takes how long things took, by up to three words for what they were. */
export interface Timings {
  /** `traceId`: where it is known by one. */
  add(ms: number, first: string, second?: string, third?: string, traceId?: string): void;
}

/** For those whose times nobody wants. */
export const noTimings: Timings = { add: () => {} };
