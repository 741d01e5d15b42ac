import { AppError, type AppErrorOptions } from '../../core/errors/app-error.ts';

/** A view that cannot be read in its present state. */
export class ViewFault extends AppError {
  constructor(message: string, options: AppErrorOptions) {
    super('sql_error', message, options);
  }
}

/** A view as a statement names it. */
export interface ShownView {
  readonly name: string;
  readonly position: number | undefined;
}

export function viewElsewhere({ name, position }: ShownView): AppError {
  return new AppError('sql_forbidden', `${name} is a view, which only the engine local reads`, {
    hint: `send the statement to local, or make a frame there: CREATE TABLE "x" AS FROM ${name}`,
    position,
  });
}

export function tooDeep({ name, position }: ShownView, most: number): AppError {
  return new ViewFault(`view ${name} is nested too deeply: at most ${most} views read each other`, {
    hint: 'make a frame of one of them: CREATE TABLE "x" AS SELECT …',
    position,
  });
}

export function tooLarge({ name, position }: ShownView): AppError {
  return new ViewFault(`view ${name} is too large with the views that it reads`, {
    hint: 'make a frame of one of them: CREATE TABLE "x" AS SELECT …',
    position,
  });
}

const absent: ReadonlySet<string> = new Set(['handle_not_found', 'handle_gone', 'sql_error', 'sql_forbidden']);

/** Why a view cannot read a table that it names. `owner`: the other tenant that shares it, or did. */
export function whyUnreadable(
  error: unknown,
  { name, position }: ShownView,
  read: string,
  owner: string | undefined,
): unknown {
  if (!(error instanceof AppError) || !absent.has(error.code)) return error;
  const options = { position, cause: error };
  if (error instanceof ViewFault) return new ViewFault(error.message, { ...options, hint: error.hint });
  if (owner !== undefined) {
    return new ViewFault(`view ${name} reads table ${owner}.${read}, which is gone or no longer shared`, {
      ...options,
      hint: 'ask its owner, or make the view anew: CREATE OR REPLACE VIEW',
    });
  }
  return new ViewFault(`view ${name} reads table ${read}, which is gone`, {
    ...options,
    hint: 'make the table again, or the view: CREATE OR REPLACE VIEW',
  });
}

const aboutFrames: ReadonlySet<string> = new Set([...absent, 'frame_damaged', 'forbidden', 'invalid_handle']);

/** Hides the reason from a caller that may not see the tables of a view. */
export function withoutReason(error: unknown, { name, position }: ShownView): unknown {
  if (!(error instanceof AppError) || !aboutFrames.has(error.code)) return error;
  const hint = 'ask its owner to look at it';
  return new ViewFault(`view ${name} cannot be read now`, { position, cause: error, hint });
}
