import type { Tenant } from '../../core/callers/principal.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import type { Handle } from '../../core/names/handle.ts';
import { lineageOf } from '../disk/manifest.ts';
import type { Entry } from './catalog.ts';

/** A change of a handle since the last call of a listener. */
export type FrameChange<Name extends string = FrameName> =
  | {
      /** `put`: it holds other rows than before. `append`: more. */
      readonly kind: 'put' | 'append';
      readonly handle: Name;
      readonly version: number;
      readonly lineage: string;
      readonly rows: number;
      /** Of `rows`, those that are new to the listener. */
      readonly rowsAdded: number;
    }
  /** Also of a frame that has expired, or that cannot be read any more. */
  | { readonly kind: 'drop'; readonly handle: Name };

interface HeldRows {
  readonly version: number;
  readonly lineage: string;
  readonly rows: number;
}

interface Pending {
  readonly before: HeldRows | undefined;
  after: HeldRows | undefined;
}

/** Time between two calls of a listener, and the addition for each of many listeners. */
const leastWakeMs = 5;
const wakeMsPerListener = 0.1;
const mostWakeMs = 20;

/** Reports changes of one tenant's handles. Changes within a few milliseconds wake a listener once. */
export class FrameChanges implements Disposable {
  readonly #byHandle = new Map<Handle, Set<() => void>>();
  readonly #all = new Set<(change: FrameChange<Handle>) => void>();
  readonly #pending = new Map<Handle, Pending>();
  #listeners = 0;
  #wokenAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** Calls `wake` after changes of the handle. A frame that somebody watches does not expire. */
  watch(handle: Handle, wake: () => void): Disposable {
    const listeners = this.#byHandle.get(handle) ?? new Set();
    this.#byHandle.set(handle, listeners);
    listeners.add(wake);
    this.#listeners++;
    return {
      [Symbol.dispose]: () => {
        if (!listeners.delete(wake)) return;
        this.#listeners--;
        if (listeners.size === 0 && this.#byHandle.get(handle) === listeners) this.#byHandle.delete(handle);
      },
    };
  }

  watchAll(tell: (change: FrameChange<Handle>) => void): Disposable {
    this.#all.add(tell);
    this.#listeners++;
    return {
      [Symbol.dispose]: () => {
        if (this.#all.delete(tell)) this.#listeners--;
      },
    };
  }

  isWatched(handle: Handle): boolean {
    return this.#byHandle.has(handle);
  }

  /** To be called before the entry that was there is forgotten. */
  changed(handle: Handle, before: Entry | undefined, after: Entry | undefined): void {
    if (this.#listeners === 0 || (this.#all.size === 0 && !this.#byHandle.has(handle))) return;
    const pending = this.#pending.get(handle);
    if (pending !== undefined) pending.after = heldRows(after);
    else this.#pending.set(handle, { before: heldRows(before), after: heldRows(after) });
    if (this.#timer !== undefined) return;
    const wakeMs = Math.min(mostWakeMs, leastWakeMs + this.#listeners * wakeMsPerListener);
    this.#timer = setTimeout(this.#wake, Math.max(0, this.#wokenAt + wakeMs - performance.now()));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#pending.clear();
  }

  readonly #wake = (): void => {
    this.#timer = undefined;
    this.#wokenAt = performance.now();
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const [handle, { before, after }] of pending) {
      for (const wake of [...(this.#byHandle.get(handle) ?? [])]) wake();
      const change = changeOf(handle, before, after);
      if (change !== undefined) for (const tell of [...this.#all]) tell(change);
    }
  };
}

/** The changes of all tenants. */
export class StoreChanges implements Disposable {
  readonly #byTenant = new Map<Tenant, FrameChanges>();

  of(tenant: Tenant): FrameChanges {
    const changes = this.#byTenant.get(tenant) ?? new FrameChanges();
    this.#byTenant.set(tenant, changes);
    return changes;
  }

  [Symbol.dispose](): void {
    for (const changes of this.#byTenant.values()) changes[Symbol.dispose]();
  }
}

function heldRows(entry: Entry | undefined): HeldRows | undefined {
  if (entry?.kind !== 'held') return undefined;
  const { manifest, number, rows } = entry.version;
  return { version: number, lineage: lineageOf(manifest), rows };
}

/** Undefined without a change of rows: recompression, another time to live. */
function changeOf(
  handle: Handle,
  before: HeldRows | undefined,
  after: HeldRows | undefined,
): FrameChange<Handle> | undefined {
  if (after === undefined) return before === undefined ? undefined : { kind: 'drop', handle };
  const isSame = before?.lineage === after.lineage;
  const rowsAdded = isSame ? after.rows - (before?.rows ?? 0) : after.rows;
  if (isSame && rowsAdded === 0) return undefined;
  return { kind: isSame ? 'append' : 'put', handle, ...after, rowsAdded };
}
