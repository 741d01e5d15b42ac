import { ownerKey, type Principal, type Tenant } from '../../core/callers/principal.ts';
import { LruMap } from '../../core/system/lru-map.ts';

/**
 * A bounded map of state that callers keep on the server, found by its owner alone. To make room it evicts the least recently
 * used entry of the tenant with most, so that no tenant evicts another's.
 */
export class OwnedMap<Value> {
  readonly #tenants = new Map<Tenant, LruMap<Value>>();
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  #size = 0;
  #bytes = 0;

  constructor(maxEntries: number, maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#size;
  }

  has(owner: Principal, id: string): boolean {
    return this.#tenants.get(owner.tenant)?.has(keyOf(owner, id)) === true;
  }

  get(owner: Principal, id: string): Value | undefined {
    return this.#tenants.get(owner.tenant)?.get(keyOf(owner, id));
  }

  set(owner: Principal, id: string, value: Value, bytes = 0): void {
    this.#change(owner.tenant, (entries) => entries.set(keyOf(owner, id), value, bytes));
    while (this.#size > this.#maxEntries || this.#bytes > this.#maxBytes) {
      const largest = this.#largest();
      // The newest stays, however large it is.
      if (largest === owner.tenant && this.#tenants.get(largest)?.size === 1) return;
      this.#change(largest, (entries) => entries.deleteOldest());
    }
  }

  delete(owner: Principal, id: string): boolean {
    const isThere = this.has(owner, id);
    if (isThere) this.#change(owner.tenant, (entries) => entries.delete(keyOf(owner, id)));
    return isThere;
  }

  /** Drops the tenant's least recently used entries, up to the first that does not match. */
  deleteOldestWhile({ tenant }: Principal, matches: (value: Value) => boolean): void {
    this.#change(tenant, (entries) => entries.deleteOldestWhile(matches));
  }

  #change(tenant: Tenant, act: (entries: LruMap<Value>) => unknown): void {
    const entries = this.#tenants.get(tenant) ?? new LruMap<Value>(Number.POSITIVE_INFINITY);
    const { size, bytes } = entries;
    act(entries);
    this.#size += entries.size - size;
    this.#bytes += entries.bytes - bytes;
    if (entries.size === 0) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, entries);
  }

  #largest(): Tenant {
    const share = ({ size, bytes }: LruMap<Value>): number => Math.max(size / this.#maxEntries, bytes / this.#maxBytes);
    const shares = [...this.#tenants].map(([tenant, entries]) => ({ tenant, share: share(entries) }));
    return shares.reduce((largest, each) => (each.share > largest.share ? each : largest)).tenant;
  }
}

function keyOf(owner: Principal, id: string): string {
  return `${ownerKey(owner)} ${id}`;
}
