/** Records durations, by up to three words for their kind. */
export interface Timings {
  /** `traceId`: where it is known by one. */
  add(ms: number, first: string, second?: string, third?: string, traceId?: string): void;
}

/** For work without timings. */
export const noTimings: Timings = { add: () => {} };
