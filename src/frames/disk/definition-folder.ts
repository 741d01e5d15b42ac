import { Semaphore } from '../../core/async/semaphore.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { type Definition, definitionExists, definitionKey, parseDefinition } from '../../core/sql/definition.ts';
import type { DurableFiles } from './durable-file.ts';
import { RecordFolder } from './record-folder.ts';

/** Of one tenant. */
const mostOfTenant = 1000;
/** Most delay before those of other servers are seen. */
const freshMs = 200;

export type IfDefined = 'fail' | 'replace' | 'keep';

/** The macros and types of one tenant, a file each. */
export class DefinitionFolder {
  readonly #records: RecordFolder<Definition>;
  readonly #durable: DurableFiles;
  readonly #most: number;
  /** One at a time: each begins with the result of the last. */
  readonly #changes = new Semaphore(1);
  #known: Promise<readonly Definition[]> | undefined;
  #lookedAtMs = -Infinity;

  constructor(path: string, durable: DurableFiles, most = mostOfTenant) {
    this.#most = most;
    this.#durable = durable;
    this.#records = new RecordFolder(path, durable, parseDefinition);
  }

  /** In order of names, without damaged ones. */
  async all(): Promise<readonly Definition[]> {
    if (this.#known === undefined || performance.now() - this.#lookedAtMs > freshMs) {
      this.#lookedAtMs = performance.now();
      if ((await this.#records.refresh()) || this.#known === undefined) this.#known = this.#read();
    }
    return await this.#known;
  }

  /** Names of files without a valid definition. */
  async damaged(): Promise<readonly string[]> {
    await this.#records.refresh();
    const names = [...this.#records.names].sort();
    const found = await Promise.all(names.map((name) => this.#records.get(name)));
    // A definition that was removed meanwhile is no longer among the names.
    return names.filter((name, at) => found[at] === undefined && this.#records.has(name));
  }

  /** False where there is one of its name, which is to stay. */
  async save(definition: Definition, ifTaken: IfDefined): Promise<boolean> {
    return await this.#changing(async () => {
      const key = definitionKey(definition);
      const before = await this.#records.get(key);
      if (before !== undefined) {
        if (ifTaken === 'keep') return false;
        if (ifTaken === 'fail' || before.kind !== definition.kind) throw definitionExists(before);
      } else if (this.#records.names.size >= this.#most) throw tooMany(this.#most);
      if (ifTaken === 'replace' || this.#records.has(key)) await this.#records.set(key, definition);
      else if (!(await this.#records.add(key, definition))) {
        if (ifTaken === 'keep') return false;
        throw definitionExists(definition);
      }
      return true;
    });
  }

  /** False where there is none of this kind and name. */
  async remove(wanted: Pick<Definition, 'kind' | 'name'>): Promise<boolean> {
    return await this.#changing(async () => {
      const key = definitionKey(wanted);
      const found = await this.#records.get(key);
      return found?.kind === wanted.kind && (await this.#records.remove(key));
    });
  }

  async #changing(act: () => Promise<boolean>): Promise<boolean> {
    return await this.#changes.run(async () => {
      this.#durable.assertWritable();
      try {
        await this.#records.reread();
        return await act();
      } finally {
        this.#known = undefined;
      }
    });
  }

  async #read(): Promise<readonly Definition[]> {
    const found = await Promise.all([...this.#records.names].sort().map((name) => this.#records.get(name)));
    return found.filter((definition) => definition !== undefined);
  }
}

function tooMany(most: number): AppError {
  return new AppError('quota_exceeded', `there are ${most} macros and types already`, {
    hint: 'drop those that nobody uses; duckdb_functions() and duckdb_types() list them',
  });
}
