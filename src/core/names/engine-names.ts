import type { Principal } from '../callers/principal.ts';
import { AppError } from '../errors/app-error.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import type { QuotingRules } from '../text/split-statements.ts';

/** The engine inside this server, over the frames. */
export const localEngineName = 'local';

/** The external time-series database. It does not know the frames. */
export const tsdbEngineName = 'tsdb';

/** Local, or the operator's engine for statements that read much. */
export const autoEngineName = 'auto';

/** Names that an operator cannot give. */
export const reservedEngineNames: readonly string[] = [localEngineName, tsdbEngineName, autoEngineName];

/** Valid names of engines. Issuers and rules for certificates have the same rule. */
export function isEngineName(name: string): boolean {
  return /^[a-z][a-z0-9_-]{0,63}$/.test(name);
}

/** The rules of the engine that reads a statement; for `auto` those of the local one, which is tried first. */
export function quotingOf(engine: string | undefined): QuotingRules {
  return engine === undefined || reservedEngineNames.includes(engine) ? 'duckdb' : 'spark';
}

/** Whether the engine, or `analytics`, is granted to the caller's tenant. Without the grant it counts as not configured. */
export function mayUseEngine({ limits }: Pick<Principal, 'limits'>, name: string): boolean {
  if (name === localEngineName || name === autoEngineName || limits?.engines === undefined) return true;
  return limits.engines.includes(name);
}

/** The default engine, or local where another engine over the frames is the default and is not granted. */
export function usableDefault(principal: Pick<Principal, 'limits'>, defaultEngine: string): string {
  return defaultEngine === tsdbEngineName || mayUseEngine(principal, defaultEngine) ? defaultEngine : localEngineName;
}

export function unknownEngine(name: string, known: readonly string[]): AppError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new AppError('invalid_parameter', `engine ${shown} is not known${didYouMean(name, known)}`, {
    hint: `the engines are ${known.join(', ')}; and tsdb, the external database, at GET /exec and GET /exp`,
  });
}
