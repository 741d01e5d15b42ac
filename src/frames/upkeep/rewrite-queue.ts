import type { Tenant } from '../../core/callers/principal.ts';
import type { Logger } from '../../core/logs/logger.ts';
import type { Handle } from '../../core/names/handle.ts';
import type { Manifest } from '../disk/manifest.ts';
import { IdleQueue } from './idle-queue.ts';
import { type MergeOptions, planRewrite } from './merge-plan.ts';

export interface RewriteQueueOptions {
  /** Gives whether there is more to do. */
  readonly rewrite: (tenant: Tenant, handle: Handle, options: MergeOptions, signal: AbortSignal) => Promise<boolean>;
  /** Time without a put before parts are compressed again. Merges do not wait for that. */
  readonly quietMs: number;
  /** Time without a change of a frame's parts before its small ones are merged. */
  readonly standstillMs: number;
  readonly logger: Logger;
}

/** Decides when the parts of which frame are rewritten: one frame at a time. */
export class RewriteQueue implements AsyncDisposable {
  readonly #options: RewriteQueueOptions;
  readonly #queue: IdleQueue;
  readonly #standstills = new Map<string, NodeJS.Timeout>();

  constructor(options: RewriteQueueOptions) {
    this.#options = options;
    this.#queue = new IdleQueue(options);
  }

  /** A frame has these parts now. */
  changed(tenant: Tenant, { handle, parts }: Pick<Manifest, 'handle' | 'parts'>): void {
    const run = planRewrite(parts);
    if (run.length > 0) this.#enqueue(tenant, handle, { isUrgent: run.length > 1 });
    const key = keyOf(tenant, handle);
    const timer = this.#standstills.get(key);
    if (timer !== undefined) timer.refresh();
    else if (planRewrite(parts, { standsStill: true }).length > 0) this.#awaitStandstill(tenant, handle, key);
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get failures(): number {
    return this.#queue.failures;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#standstills.values()) clearTimeout(timer);
    await this.#queue[Symbol.asyncDispose]();
  }

  #awaitStandstill(tenant: Tenant, handle: Handle, key: string): void {
    const timer = setTimeout(() => {
      this.#standstills.delete(key);
      this.#enqueue(tenant, handle, { standsStill: true });
    }, this.#options.standstillMs);
    this.#standstills.set(key, timer.unref());
  }

  #enqueue(tenant: Tenant, handle: Handle, how: MergeOptions & { readonly isUrgent?: boolean }): void {
    const rewrite = async (signal: AbortSignal): Promise<void> => {
      const hasMore = await this.#options.rewrite(tenant, handle, how, signal);
      if (hasMore) this.#enqueue(tenant, handle, how);
    };
    this.#queue.enqueue(keyOf(tenant, handle), rewrite, how);
  }
}

function keyOf(tenant: Tenant, handle: Handle): string {
  return `${tenant}/${handle}`;
}
