export interface CodedErrorOptions {
  /** A remedy for the caller. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** An error with a code, whose message may be shown to whoever sent the data. */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly hint: string | undefined;

  constructor(code: Code, message: string, { hint, cause }: CodedErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CodedError';
    this.code = code;
    this.hint = hint;
  }
}
