import type { Deadline } from '../../../core/async/deadline.ts';
import type { MeasuredName } from './measured-shares.ts';
import type { ParkReasons } from './park-reasons.ts';
import type { WorkerProcess } from './worker-process.ts';

/** It is not its turn, or it waits for disk or memory that others have. */
export type SuspensionReason = 'turn' | MeasuredName;

/** Suspends the process of a job while it waits for others. That time does not count for the job. */
export class Suspension {
  readonly #worker: WorkerProcess;
  readonly #deadline: Deadline | undefined;
  readonly #parkReasons: ParkReasons;
  /** It stands still already while the reader has its turn. */
  isTimed = true;
  readonly #reasons = new Set<SuspensionReason>();
  #since: number | undefined;
  #ms = 0;

  constructor(worker: WorkerProcess, deadline: Deadline | undefined, parkReasons: ParkReasons) {
    this.#worker = worker;
    this.#deadline = deadline;
    this.#parkReasons = parkReasons;
  }

  get isSuspended(): boolean {
    return this.#since !== undefined;
  }

  /** So long it stood still. */
  get ms(): number {
    return this.#ms;
  }

  suspend(reason: SuspensionReason): void {
    this.#reasons.add(reason);
    if (this.isSuspended) return;
    this.#since = performance.now();
    this.#deadline?.pause();
    this.#worker.suspend();
    this.#parkReasons.add('suspended');
  }

  resume(reason: SuspensionReason): void {
    this.#reasons.delete(reason);
    if (this.#reasons.size === 0) this.end();
  }

  /** The job is over. */
  end(): void {
    if (this.#since === undefined) return;
    this.#ms += performance.now() - this.#since;
    this.#since = undefined;
    this.#parkReasons.delete('suspended');
    this.#worker.resume();
    if (this.isTimed) this.#deadline?.resume();
  }
}
