import { FrameholdError } from '#client/errors.ts';
import { maxLimit } from '../../api/max-limit.ts';
import { call, getExactJson, withQuery } from '../../api/request.ts';
import { type AnswerColumn, type Cell, type GridColumn, gridColumn } from '../../grid/grid-source.ts';
import type { BoundParameters } from '../parameters/parameter-value.ts';
import type { KeptFrame } from '../result/result-source.ts';

/** Rows of the first part of a result. */
const firstRows = 1000;

export interface StatementRequest {
  readonly sql: string;
  readonly engine: string;
  /** `read`: over a door that cannot change anything. */
  readonly door: 'sql' | 'read';
  readonly params: BoundParameters | undefined;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** The result of a statement. */
export type StatementAnswer = (
  | {
      readonly kind: 'rows';
      readonly columns: readonly GridColumn[];
      readonly rows: readonly (readonly Cell[])[];
      /** Whether more rows follow. */
      readonly hasMore: boolean;
    }
  | { readonly kind: 'done'; readonly updated: number | undefined }
) & { readonly engine: string; readonly engineReason: string | undefined };

interface AnswerDocument {
  readonly columns?: readonly AnswerColumn[];
  readonly dataset?: readonly (readonly Cell[])[];
  readonly updated?: number;
  readonly engine?: string;
  readonly engine_reason?: string;
  readonly error?: string;
  readonly position?: number;
}

/** Runs a statement, and takes the first rows of its result. */
export async function runStatement(request: StatementRequest): Promise<StatementAnswer> {
  const limit = Math.min(firstRows + 1, await maxLimit(request.signal));
  // One row more than is shown reveals whether there are more.
  return answerOf(await ask(request, limit), request, Math.max(1, limit - 1));
}

function ask(
  { sql, engine, door, params, requestId, signal }: StatementRequest,
  limit: number,
): Promise<AnswerDocument> {
  const headers = { 'x-request-id': requestId };
  const given = { engine, limit, quoteLargeNum: true, quoteNonFinite: true };
  // The external database is queried over GET alone.
  if (door === 'read' || engine === 'tsdb') {
    const query = { query: sql, fmt: 'json', ...given, params: params && JSON.stringify(params) };
    // /exec, whose parameters are QuestDB's, takes no values.
    return getExactJson(withQuery(params === undefined ? '/exec' : '/exp', query), { headers, signal });
  }
  const body = JSON.stringify({ sql, params, ...given });
  return getExactJson('/sql', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
    signal,
  });
}

function answerOf(document: AnswerDocument, { engine }: StatementRequest, mostRows: number): StatementAnswer {
  // QuestDB may begin an answer as a success and find the error later.
  if (document.error !== undefined) {
    throw new FrameholdError('sql_error', document.error, { position: document.position });
  }
  const ran = { engine: document.engine ?? engine, engineReason: document.engine_reason };
  if (document.columns === undefined) return { kind: 'done', updated: document.updated, ...ran };
  const rows = document.dataset ?? [];
  return {
    kind: 'rows',
    columns: document.columns.map(gridColumn),
    rows: rows.slice(0, mostRows),
    hasMore: rows.length > mostRows,
    ...ran,
  };
}

/** Runs it once more, and keeps all of its rows as a frame. */
export async function keepStatement(
  { sql, engine, params, requestId, signal }: Omit<StatementRequest, 'door'>,
  keep: { readonly handle: string; readonly ttl: string },
): Promise<KeptFrame> {
  await call('POST /sql', { body: { sql, engine, params, keep }, headers: { 'x-request-id': requestId }, signal });
  // A frame that was just kept is not damaged.
  return (await call('GET /handles/{handle}', { segments: { handle: keep.handle }, signal })) as KeptFrame;
}

/** Not `crypto.randomUUID`, which is missing on plain HTTP under a name. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Stops it in the server. Resolves also where it has ended. */
export async function cancelQuery(requestId: string): Promise<void> {
  try {
    await call('DELETE /queries/{id}', { segments: { id: requestId } });
  } catch (error) {
    if (!(error instanceof FrameholdError)) throw error;
  }
}
