export { FairQueue, type WaitOptions } from './fair-queue.ts';
export { IdleTimer } from './idle-timer.ts';
export { abortable, sleep, withTimeout } from './limited-wait.ts';
export { atOnce, inTurns, lightBytes, ownTurn, sharedTurn, WorkSlices } from './own-turn.ts';
export { TimeoutList } from './timeout-list.ts';
