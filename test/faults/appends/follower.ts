import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, ask } from '../../support/http-client.ts';
import { promised } from '../harness/scenario.ts';

const brokenConnection: readonly unknown[] = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'];

export interface FollowOptions {
  readonly goesOn: () => boolean;
  /** Whether the server may fail now, because its disk or it was struck. */
  readonly mayFail: () => boolean;
  /** From then on no answer counts: what it shows may not have reached the disk. */
  readonly isCut?: () => boolean;
}

/** Follows a frame over the deaths of its server, and remembers each row under its number. */
export class Follower {
  readonly #handle: string;
  readonly #lines: string[] = [];
  #lineage: string | undefined;

  constructor(handle: string) {
    this.#handle = handle;
  }

  get rows(): number {
    return this.#lines.length;
  }

  /** By long polls, until it shall not go on. */
  async follow(
    { url }: { readonly url: string },
    { goesOn, mayFail, isCut = () => false }: FollowOptions,
  ): Promise<void> {
    while (goesOn()) {
      const query = `from=${this.rows}&live=long-poll&wait=200ms${this.#ofLineage}`;
      try {
        const answer = await ask(`${url}/handles/${this.#handle}/rows?${query}`);
        if (isCut()) return;
        if (answer.status < 300) this.#take(answer);
        else promised(mayFail() || answer.status === 503, 'a follower is served', answer.text);
        if (answer.status >= 300) await delay(10);
      } catch (error) {
        // The connection breaks with the server.
        if (!brokenConnection.includes((error as { code?: string }).code)) throw error;
        await delay(10);
      }
    }
  }

  /** All rows that the server has now. Each that was seen before is there, under the same number. */
  async readAll({ url }: { readonly url: string }): Promise<readonly string[]> {
    const all: string[] = [];
    for (let isWhole = false; !isWhole; ) {
      const query = `from=${all.length}${this.#ofLineage}`;
      const answer = await ask(`${url}/handles/${this.#handle}/rows?${query}`);
      promised(answer.status === 200, 'the rows can be read', answer.text.slice(0, 1000));
      for (const line of linesIn(answer)) all.push(line);
      promised(Number(answer.headers['next-row']) === all.length, 'the answer tells the next row', answer.headers);
      isWhole = answer.headers['up-to-date'] === 'true';
    }
    for (const [number, line] of this.#lines.entries()) {
      promised(all[number] === line, `row ${number} stays what it was`, { was: line, is: all[number] });
    }
    for (const line of all.slice(this.rows)) this.#lines.push(line);
    return all;
  }

  get #ofLineage(): string {
    return this.#lineage === undefined ? '' : `&lineage=${this.#lineage}`;
  }

  #take(answer: Answer): void {
    for (const line of linesIn(answer)) this.#lines.push(line);
    promised(Number(answer.headers['next-row']) === this.rows, 'the answer tells the next row', answer.headers);
    this.#lineage ??= String(answer.headers.lineage);
  }
}

function linesIn({ text }: Answer): string[] {
  return text.split('\n').filter((line) => line !== '');
}
