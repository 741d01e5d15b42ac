import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The day on which each token was last used: a small file each, apart from the records, whose every change clears the caches of all
 * servers. Best effort: a day that cannot be written is lost.
 */
export class TokenUses {
  readonly #folder: string;
  /** Tokens that were noted today. */
  readonly #noted = new Set<string>();
  #today = '';

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** At most one write a token and day. */
  async note(id: string, nowMs: number): Promise<void> {
    const day = new Date(nowMs).toISOString().slice(0, 10);
    if (day !== this.#today) this.#noted.clear();
    this.#today = day;
    if (this.#noted.has(id)) return;
    this.#noted.add(id);
    if ((await this.lastDay(id)) === day) return;
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(join(this.#folder, id), day);
    } catch {
      // The next day is another chance.
    }
  }

  /** As `2026-11-17`, in UTC. */
  async lastDay(id: string): Promise<string | undefined> {
    try {
      return /^\d{4}-\d\d-\d\d$/.exec(await readFile(join(this.#folder, id), 'utf8'))?.[0];
    } catch {
      return undefined;
    }
  }

  async forget(id: string): Promise<void> {
    await rm(join(this.#folder, id), { force: true }).catch(() => {});
  }
}
