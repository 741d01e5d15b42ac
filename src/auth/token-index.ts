import type { Tenant } from '../core/callers/principal.ts';
import type { RecordFolder } from '../frames/disk/record-folder.ts';

/** The tokens of each tenant and of the operators. A token never changes hands, so each record is read once for this. */
export class TokenIndex {
  readonly #tokens: RecordFolder<{ readonly tenant: Tenant | undefined }>;
  /** By the name of the record; undefined: an operator's. */
  readonly #tenants = new Map<string, Tenant | undefined>();

  constructor(tokens: RecordFolder<{ readonly tenant: Tenant | undefined }>) {
    this.#tokens = tokens;
  }

  /** The names of the records of a tenant's tokens; undefined: of the operators'. */
  async namesOf(tenant: Tenant | undefined): Promise<string[]> {
    const { names } = this.#tokens;
    for (const name of this.#tenants.keys()) {
      if (!names.has(name)) this.#tenants.delete(name);
    }
    const found: string[] = [];
    for (const name of names) {
      if (!this.#tenants.has(name)) {
        const record = await this.#tokens.get(name);
        // It is damaged, or was removed just now.
        if (record === undefined) continue;
        this.#tenants.set(name, record.tenant);
      }
      if (this.#tenants.get(name) === tenant) found.push(name);
    }
    return found;
  }
}
