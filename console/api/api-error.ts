/** An answer that is an error, or a request that got none. */
export class ApiError extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  /** Where in the statement, counted from 0 in characters. */
  readonly position: number | undefined;

  constructor(status: number, code: string, message: string, more: { hint?: string; position?: number } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = more.hint;
    this.position = more.position;
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** What went wrong, for people. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
}
