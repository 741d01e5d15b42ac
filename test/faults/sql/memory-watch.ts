import { familyOf, residentBytesOf } from '../../support/process-facts.ts';

const everyMs = 50;

/** The most memory that the server and any one process below it had at once, looked at again and again. */
export class MemoryWatch implements Disposable {
  readonly #timer: NodeJS.Timeout;
  server = 0;
  worker = 0;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      for (const member of familyOf(pid)) {
        const key = member === pid ? 'server' : 'worker';
        this[key] = Math.max(this[key], residentBytesOf(member));
      }
    }, everyMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
