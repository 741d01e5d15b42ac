import type { Principal, Tenant } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import type { LiveTables } from '../core/sql/live-tables.ts';
import type { SqlEngine } from '../core/sql/sql.ts';
import type { Frames } from '../frames/frames.ts';
import type { CallOptions } from './frame-sql.ts';

/** What the statements of one engine run on. */
export interface StatementSources {
  readonly frames: Frames;
  readonly engine: SqlEngine;
  /** Undefined: no external database is configured. */
  readonly live?: LiveTables | undefined;
  /** Casts the rows of an INSERT to the frame's types. Default: the engine itself. */
  readonly caster?: SqlEngine | undefined;
}

/** A statement of a caller, on its way through the files that run it. */
export interface StatementRun extends StatementSources {
  readonly principal: Principal;
  readonly options: CallOptions;
  /** The options of the engine's jobs. */
  readonly job: CallOptions & { readonly tenant: Tenant };
}

export function statementRun(sources: StatementSources, principal: Principal, options: CallOptions): StatementRun {
  return { ...sources, principal, options, job: { ...options, tenant: principal.tenant } };
}

const mostAttempts = 5;

/** Runs a part of a statement again, as often as others have changed a frame meanwhile. */
export async function retried<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await act();
    } catch (error) {
      const isChanged = error instanceof AppError && error.code === 'frame_changed';
      if (!isChanged || attempt === mostAttempts) throw error;
    }
  }
}
