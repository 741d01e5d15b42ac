import { AppError } from '../../core/errors/app-error.ts';
import type { Exchange } from './exchange.ts';

/** A database executes each statement, so a request for the headers alone would still run it. */
export function headWouldExecute({ headers }: Exchange): AppError {
  headers.push('allow', 'GET, OPTIONS');
  return new AppError('method_not_allowed', 'HEAD is not offered for query=', { hint: 'use GET' });
}

export function tsdbNotConfigured(): AppError {
  return new AppError('tsdb_not_configured', 'no external database is configured for query=', {
    hint: 'engine=local runs it over the frames; for a QuestDB-shaped database the operator sets FRAMEHOLD_TSDB_HTTP_URL (or SERVICE_TSDB_HTTP_URL) to its base URL, e.g. http://127.0.0.1:9001',
  });
}
