import { createHash } from 'node:crypto';
import type { Logger } from '../core/logs/logger.ts';
import type { StatementCosts } from '../core/logs/statement-costs.ts';

/** A statement that is over. */
export interface EndedStatement {
  readonly requestId: string;
  readonly traceId: string | undefined;
  readonly tenant: string;
  readonly engine: string;
  readonly operation: string;
  readonly sql: string;
  /** As it names them. */
  readonly frames: () => readonly string[];
  readonly totalMs: number;
  /** Until its first rows could be read. Undefined where it has none to be read. */
  readonly firstRowsMs: number | undefined;
  readonly costs: StatementCosts;
  /** Empty: it did not fail. */
  readonly errorType: string;
}

export interface SlowStatementsOptions {
  /** 0: none is slow. */
  readonly thresholdMs: number;
  readonly logger: Logger;
}

/** A line of the log for each slow statement. It has a hash instead of the text, which may hold values: the audit has the same hash. */
export class SlowStatements {
  readonly #logger: Logger;
  /** May change. */
  thresholdMs: number;

  constructor({ thresholdMs, logger }: SlowStatementsOptions) {
    this.thresholdMs = thresholdMs;
    this.#logger = logger;
  }

  add(ended: EndedStatement): void {
    if (this.thresholdMs === 0 || ended.totalMs < this.thresholdMs) return;
    const { requestId, traceId, tenant, engine, operation, sql, frames, costs, errorType } = ended;
    const { queueMs, workMs, readerMs, rows, bytes, spilledBytes } = costs;
    this.#logger.warn('slow statement', {
      ...{ requestId, traceId, tenant, engine, operation },
      sqlSha256: createHash('sha256').update(sql).digest('hex'),
      frames: frames(),
      totalMs: Math.round(ended.totalMs),
      firstRowsMs: ended.firstRowsMs === undefined ? undefined : Math.round(ended.firstRowsMs),
      queueMs: Math.round(queueMs),
      workMs: Math.round(workMs),
      readerMs: Math.round(readerMs),
      ...{ rows, bytes, spilledBytes },
      errorType: errorType === '' ? undefined : errorType,
    });
  }
}
