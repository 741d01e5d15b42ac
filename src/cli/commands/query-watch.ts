import type { ClientContext } from '../framework/client-command.ts';
import type { Progress } from '../terminal/progress.ts';
import { progressText } from './queries.ts';

const everyMs = 1000;

/** While a statement runs, polls its progress and shows it in the line on the terminal. */
export class QueryWatch implements Disposable {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #stopping = new AbortController();

  constructor({ environment, client }: ClientContext, id: string, progress: Progress) {
    if (!environment.stderrIsTerminal) return;
    let isAsking = false;
    const ask = async (): Promise<void> => {
      if (isAsking) return;
      isAsking = true;
      try {
        const queries = await client.queries(this.#stopping);
        const reported = queries.find((query) => query.id === id)?.progress ?? undefined;
        if (reported !== undefined) progress.note = progressText(reported);
      } catch {
        // The wait for the statement reports a server that does not answer.
      } finally {
        isAsking = false;
      }
    };
    this.#timer = setInterval(() => void ask(), everyMs).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#stopping.abort();
  }
}
