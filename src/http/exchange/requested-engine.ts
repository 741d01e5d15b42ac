import type { Principal } from '../../core/callers/principal.ts';
import { usableDefault } from '../../core/names/engine-names.ts';
import type { EngineChoice } from '../../query/frame-sql.ts';
import type { Exchange } from './exchange.ts';
import type { Parameter } from './parameters.ts';

/** The engine that the request names. It is not checked here whether it exists. */
export interface RequestedEngine {
  readonly engine: string;
  /** It was the request that named it: the answer says so. */
  readonly isNamed: boolean;
}

export function requestedEngine(
  engine: string | undefined,
  { defaultEngine }: { readonly defaultEngine: string },
): RequestedEngine {
  return { engine: engine ?? defaultEngine, isNamed: engine !== undefined };
}

/** If the default engine is not granted to the caller, a request without an engine uses another. */
export function withUsableEngine<Command extends RequestedEngine>(command: Command, principal: Principal): Command {
  return command.isNamed ? command : { ...command, engine: usableDefault(principal, command.engine) };
}

const engineNames =
  '`local`, over the frames; a name of `[engines]`, the same there; `auto`, the one or the other by what the statement reads';

export const engineDescription = `What runs it: ${engineNames}.`;

export function engineParameter(defaultEngine: string | undefined): Parameter<string | undefined> {
  return {
    description: `What runs \`query\`: ${engineNames}; or \`tsdb\`, the external database, which then answers itself.`,
    schema: { type: 'string', ...(defaultEngine !== undefined && { default: defaultEngine }) },
    parse: (value) => value,
  };
}

/** The engine in an answer: the named one, or the one that we chose. */
export interface EngineReport {
  readonly engine: string;
  readonly engine_reason: string;
}

export const engineReportSchema = {
  engine: { type: 'string', description: 'What ran it, where the request named an engine or the server chose one.' },
  engine_reason: { type: 'string', description: 'Why it ran there.' },
} as const;

/** Notes where the statement of a request runs: in the headers of its answer, for its log line, and for its body. */
export function reportEngine(
  exchange: Exchange,
  { engine: wanted, isNamed }: RequestedEngine,
  choice: EngineChoice,
): EngineReport | undefined {
  const { engine, reason, isElsewhere } = choice;
  exchange.engine = choice;
  const { logger, requestId, headers } = exchange;
  if (isElsewhere) logger.info('a statement runs elsewhere', { requestId, engine, engineReason: reason });
  else if (wanted !== engine) logger.debug('a statement stays local', { requestId, engine, engineReason: reason });
  if (!isNamed && wanted === engine) return undefined;
  headers.push('x-framehold-engine', engine, 'x-framehold-engine-reason', reason);
  return { engine, engine_reason: reason };
}
