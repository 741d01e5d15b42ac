import { FrameholdError } from '#client/errors.ts';

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** The message of an error, for people. */
export function messageOf(error: unknown): string {
  if (!(error instanceof FrameholdError)) return error instanceof Error ? error.message : String(error);
  return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
}
