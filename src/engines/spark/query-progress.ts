import type { QueryProgress } from '../../core/rows/frame-engine.ts';
import type { ProgressMessage } from './connect-messages.ts';

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
