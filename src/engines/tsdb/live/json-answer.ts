import { AppError } from '../../../core/errors/app-error.ts';
import type { Tsdb, TsdbRequest, TsdbResponse } from '../../../core/sql/tsdb.ts';

/** An object that the database answers with. */
export type Answer = Readonly<Record<string, unknown>>;

/** QuestDB's error for a statement that it does not run. */
export class QuestDbError extends Error {
  readonly status: number;
  readonly position: number | undefined;

  constructor(status: number, message: string, position: number | undefined) {
    super(message);
    this.name = 'QuestDbError';
    this.status = status;
    this.position = position;
  }
}

/** For a description of 20,000 columns, several times its size. */
const mostBytes = 16_000_000;
const longestMessage = 500;

/** Asks for a small answer. Rejects with a QuestDbError where the database refuses. */
export async function askJson(
  tsdb: Tsdb,
  door: Exclude<TsdbRequest['door'], 'exp'>,
  sql: string,
  options: { readonly signal: AbortSignal },
): Promise<Answer> {
  const parameters = [['query', sql] as const, ...(door === 'exec' ? [['fmt', 'json'] as const] : [])];
  return await jsonOf(
    await tsdb.forward({ door, parameters, statementTimeout: undefined, acceptEncoding: undefined }, options),
  );
}

/** The body of an answer that should be JSON without an error in it. */
export async function jsonOf({ status, body }: TsdbResponse): Promise<Answer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > mostBytes) throw notQuestDb(status);
  }
  const text = Buffer.concat(pieces).toString();
  if (status === 429) throw new QuestDbError(status, 'too many requests', undefined);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw notQuestDb(status);
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) throw notQuestDb(status);
  const { error, position } = answer as Answer;
  if (error !== undefined || status >= 400) {
    const message = typeof error === 'string' ? error.slice(0, longestMessage) : `it answered ${status}`;
    throw new QuestDbError(status, message, typeof position === 'number' ? position : undefined);
  }
  return answer as Answer;
}

export function notQuestDb(status: number): AppError {
  return new AppError(
    'tsdb_unreachable',
    `the external database answered ${status} with something else than asked for`,
    {
      hint: 'check that tsdb.http_url names a QuestDB',
    },
  );
}
