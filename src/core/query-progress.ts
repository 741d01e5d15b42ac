/** How far a query is, as an engine of other machines tells it. */
export interface QueryProgress {
  /** Those that are known so far: more may follow. */
  readonly tasks: number;
  readonly completedTasks: number;
  readonly runningTasks: number;
  readonly bytesRead: number;
}
