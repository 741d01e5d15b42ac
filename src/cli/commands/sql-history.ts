import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const mostLines = 1000;

/** The lines typed at the prompt, stored between sessions. A history that cannot be stored is no reason to fail. */
export class SqlHistory {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The last lines, newest first, as readline wants them. */
  load(): string[] {
    try {
      const lines = readFileSync(this.#path, 'utf8').split('\n').filter(Boolean);
      if (lines.length > 2 * mostLines) writeFileSync(this.#path, `${lines.slice(-mostLines).join('\n')}\n`);
      return lines.slice(-mostLines).reverse();
    } catch {
      return [];
    }
  }

  add(line: string): void {
    if (line.trim() === '') return;
    try {
      mkdirSync(dirname(this.#path), { recursive: true });
      appendFileSync(this.#path, `${line}\n`, { mode: 0o600 });
    } catch {}
  }
}
