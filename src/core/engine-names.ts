import { AppError } from './app-error.ts';
import { didYouMean } from './text/did-you-mean.ts';

/** The engine inside this server, over the frames. */
export const localEngineName = 'local';

/** The external time-series database. It does not know the frames. */
export const tsdbEngineName = 'tsdb';

/** Local, or the operator's engine for statements that read much. */
export const autoEngineName = 'auto';

/** Names that an operator cannot give. */
export const reservedEngineNames: readonly string[] = [localEngineName, tsdbEngineName, autoEngineName];

export function unknownEngine(name: string, known: readonly string[]): AppError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new AppError('invalid_parameter', `engine ${shown} is not known${didYouMean(name, known)}`, {
    hint: `the engines are ${known.join(', ')}; and tsdb, the external database, at GET /exec and GET /exp`,
  });
}
