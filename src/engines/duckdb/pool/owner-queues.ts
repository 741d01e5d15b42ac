import { FairQueue, type WaitOptions } from '@framehold/async';
import type { WorkerOwner, WorkerProcess } from './worker-process.ts';

interface OwnerQueue {
  readonly owner: WorkerOwner;
  readonly queue: FairQueue<WorkerProcess>;
  /** When it began to wait for its turn. */
  since: number;
}

/** Jobs that wait for a child of their owner. Owners take turns, and within each the clients and connections. */
export class OwnerQueues {
  /** By key, in the order of turns. */
  readonly #queues = new Map<string, OwnerQueue>();

  get size(): number {
    return [...this.#queues.values()].reduce((sum, { queue }) => sum + queue.size, 0);
  }

  /** True with `maxJobs` jobs in all, unless the tenant has fewer than an equal share of them. */
  isFullFor({ tenant }: WorkerOwner, maxJobs: number): boolean {
    if (this.size < maxJobs) return false;
    const byTenant = new Map<string, number>([[tenant, 0]]);
    for (const { owner, queue } of this.#queues.values()) {
      byTenant.set(owner.tenant, (byTenant.get(owner.tenant) ?? 0) + queue.size);
    }
    return (byTenant.get(tenant) ?? 0) >= maxJobs / byTenant.size;
  }

  sizeOf({ key }: WorkerOwner): number {
    return this.#queues.get(key)?.queue.size ?? 0;
  }

  wait(owner: WorkerOwner, options: WaitOptions): Promise<WorkerProcess> {
    const waiting = this.#queues.get(owner.key) ?? { owner, queue: new FairQueue<WorkerProcess>(), since: 0 };
    if (waiting.queue.size === 0) waiting.since = performance.now();
    this.#queues.set(owner.key, waiting);
    return waiting.queue.wait(options);
  }

  /** Owners with waiting jobs, in the order of their turns. */
  turns(): readonly Pick<OwnerQueue, 'owner' | 'since'>[] {
    for (const [key, { queue }] of this.#queues) if (queue.size === 0) this.#queues.delete(key);
    return [...this.#queues.values()];
  }

  /** Gives the child to a job of its owner, which then goes to the end. False where none waits. */
  serve(worker: WorkerProcess): boolean {
    const { key } = worker.owner;
    const waiting = this.#queues.get(key);
    if (waiting === undefined) return false;
    this.#queues.delete(key);
    if (!waiting.queue.serve(worker)) return false;
    waiting.since = performance.now();
    if (waiting.queue.size > 0) this.#queues.set(key, waiting);
    return true;
  }

  refuseAll(error: unknown): void {
    for (const { queue } of this.#queues.values()) queue.refuseAll(error);
  }
}
