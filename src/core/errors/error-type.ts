import { CodedError } from '@framehold/columns';

/** An error that is no AppError and has a word for itself. */
export interface TypedError extends Error {
  readonly errorType: string;
}

/** The word for a caller that has left, or that gave up. */
export const clientGone = 'client_gone';

/** The kind of a fault, as one of few words. */
export function errorType(thrown: unknown): string {
  if (thrown instanceof CodedError) return thrown.code;
  return thrown instanceof Error && 'errorType' in thrown ? (thrown as TypedError).errorType : 'internal';
}
