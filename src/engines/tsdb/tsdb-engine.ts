import { AppError } from '../../core/errors/app-error.ts';
import type { EngineHealth, NamedEngine } from '../../core/sql/engine.ts';
import type { Tsdb } from '../../core/sql/tsdb.ts';

/** The answer is a line; a longer one is not read to its end. */
const mostBytes = 64 * 1024;

/** The external database under its name. It is up when it answers with anything. */
export function tsdbEngine(name: string, tsdb: Tsdb): NamedEngine {
  return {
    name,
    kind: 'questdb',
    async health({ signal }): Promise<EngineHealth> {
      const parameters = [
        ['query', 'select build()'],
        ['fmt', 'json'],
      ] as const;
      try {
        const request = { door: 'exec', parameters, statementTimeout: undefined, acceptEncoding: undefined } as const;
        const { body } = await tsdb.forward(request, { signal });
        let text = '';
        for await (const piece of body) {
          text += String(piece);
          if (text.length > mostBytes) break;
        }
        return { state: 'up', version: /QuestDB (\d[\w.+-]*)/.exec(text)?.[1] };
      } catch (error) {
        return { state: 'down', problem: error instanceof AppError ? error.message : 'it does not answer' };
      }
    },
  };
}
