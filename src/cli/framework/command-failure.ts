import { FrameholdError } from '#client/errors.ts';

/** A command cannot do its task, for a reason on this side of the wire. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** `no such file or directory`. Undefined for other errors than the system's. */
export function systemReason(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === undefined || !message.startsWith(`${code}: `)) return undefined;
  return /^\w+: ([^,]+)/.exec(message)?.[1];
}

/** The line about a failure: `what (hint)`. Undefined for unforeseen ones. */
export function failureLine(thrown: unknown): string | undefined {
  if (!(thrown instanceof FrameholdError || thrown instanceof CommandFailure)) return undefined;
  const retryAfter = thrown instanceof FrameholdError ? thrown.retryAfter : undefined;
  const again = retryAfter === undefined ? undefined : `try again in ${retryAfter} s`;
  const advice = [thrown.hint, again].filter((each) => each !== undefined).join('; ');
  return printable(advice === '' ? thrown.message : `${thrown.message} (${advice})`);
}

/** On one line, and nothing in it that a terminal obeys. */
export function printable(text: string): string {
  return text
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
