import type { Logger } from '../../core/logger.ts';
import type { Progress } from './connect-messages.ts';

/** Tells the log how far a query is. */
export function logProgress(engine: string, logger: Logger): (progress: Progress) => void {
  return ({ stages, numInflightTasks }) => {
    const sum = (of: (stage: (typeof stages)[number]) => bigint): number =>
      Number(stages.reduce((all, each) => all + of(each), 0n));
    logger.debug('query progress', {
      engine,
      tasks: sum((stage) => stage.numTasks),
      completed: sum((stage) => stage.numCompletedTasks),
      running: Number(numInflightTasks),
      bytesRead: sum((stage) => stage.inputBytesRead),
    });
  };
}
