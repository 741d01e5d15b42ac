import type { ProgressMessage } from '@framehold/spark-connect/messages';

/** How far an execution is. Sizes are those of its source files. */
export interface QueryProgress {
  readonly tasks: number;
  readonly completedTasks: number;
  readonly runningTasks: number;
  readonly bytesRead: number;
}

/** The stages of a query taken together. */
export function queryProgress({ stages, numInflightTasks }: ProgressMessage): QueryProgress {
  const sum = (of: (stage: (typeof stages)[number]) => bigint): number =>
    Number(stages.reduce((all, each) => all + of(each), 0n));
  return {
    tasks: sum((stage) => stage.numTasks),
    completedTasks: sum((stage) => stage.numCompletedTasks),
    runningTasks: Number(numInflightTasks),
    bytesRead: sum((stage) => stage.inputBytesRead),
  };
}
