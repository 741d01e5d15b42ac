import type { Principal, Tenant } from '../core/callers/principal.ts';
import { type FrameName, sharedName } from '../core/names/frame-name.ts';
import type { Handle } from '../core/names/handle.ts';
import type { FrameChange } from '../frames/catalog/frame-changes.ts';
import type { FrameSummary } from '../frames/catalog/frame-summary.ts';
import type { Frames, Signal } from '../frames/frames.ts';
import type { AccessRecords } from './access-records.ts';
import { isWithin } from './rights.ts';

export interface SharedFrameWatchOptions {
  readonly frames: Pick<Frames<Handle>, 'watchAll'>;
  readonly records: AccessRecords;
  /** As the reader sees it. */
  readonly describe: (name: FrameName) => Promise<FrameSummary>;
  readonly principal: Principal;
  readonly tell: (change: FrameChange) => void;
}

/** Reports changes of the frames that others share with a tenant: a share that begins is a put, one that ends a drop. */
export class SharedFrameWatch implements Disposable {
  readonly #options: SharedFrameWatchOptions;
  readonly #owners = new Map<Tenant, Disposable>();
  readonly #controller = new AbortController();
  #names: ReadonlySet<FrameName> = new Set();
  #stop: (() => void) | undefined;

  constructor(options: SharedFrameWatchOptions) {
    this.#options = options;
  }

  async start({ signal }: Signal): Promise<void> {
    this.#names = this.#sharedNames();
    this.#stop = this.#options.records.onChange(() => void this.#look().catch(() => {}));
    await this.#watchOwners(signal);
  }

  [Symbol.dispose](): void {
    this.#stop?.();
    this.#controller.abort();
    for (const watch of this.#owners.values()) watch[Symbol.dispose]();
    this.#owners.clear();
  }

  #sharedNames(): ReadonlySet<FrameName> {
    const { records, principal } = this.#options;
    const names = records.shares.withReader(principal.tenant).map(({ owner, handle }) => sharedName(owner, handle));
    return new Set(names.filter((name) => isWithin(principal, name)));
  }

  async #watchOwners(signal: AbortSignal): Promise<void> {
    const { frames, records, principal, tell } = this.#options;
    for (const { owner } of records.shares.withReader(principal.tenant)) {
      if (this.#owners.has(owner)) continue;
      this.#owners.set(owner, { [Symbol.dispose]: () => {} });
      const watch = await frames.watchAll(
        { ...principal, tenant: owner },
        (change) => {
          const name = sharedName(owner, change.handle);
          if (this.#names.has(name)) tell({ ...change, handle: name });
        },
        { signal },
      );
      if (this.#controller.signal.aborted) watch[Symbol.dispose]();
      else this.#owners.set(owner, watch);
    }
  }

  async #look(): Promise<void> {
    const { describe, tell } = this.#options;
    const before = this.#names;
    this.#names = this.#sharedNames();
    for (const handle of before) if (!this.#names.has(handle)) tell({ kind: 'drop', handle });
    await this.#watchOwners(this.#controller.signal);
    for (const handle of this.#names) {
      if (before.has(handle)) continue;
      const frame = await describe(handle).catch(() => undefined);
      if (frame?.state !== 'held' || this.#controller.signal.aborted) continue;
      const { version, lineage, rows } = frame;
      tell({ kind: 'put', handle, version, lineage, rows, rowsAdded: rows });
    }
  }
}
