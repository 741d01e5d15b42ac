import type { LogFields, LogLevel } from '../core/logs/logger.ts';

export interface LogRecord {
  readonly time: Date;
  readonly level: LogLevel;
  /** Empty without an area. */
  readonly area: string;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export type LogFormat = 'json' | 'pretty';

/** One object on one line: time, level, area, msg, and the fields beside them. */
export function jsonLine({ time, level, area, message, fields }: LogRecord): string {
  const own = { time: time.toISOString(), level, ...(area === '' ? {} : { area }), msg: message };
  try {
    // Assigned twice: our keys come first in the line, and no field may replace them.
    return `${JSON.stringify(Object.assign({ ...own }, fields, own), replaceUnwritable)}\n`;
  } catch (error) {
    return `${JSON.stringify({ ...own, fields: unwritable(error) })}\n`;
  }
}

const colours = { trace: 90, debug: 36, info: 32, warn: 33, error: 31 } as const satisfies Record<LogLevel, number>;

/** `12:00:00.000 INFO  http  message  key=value`, for people; errors follow with their stacks. */
export function prettyLine({ time, level, area, message, fields }: LogRecord, { colour }: { colour: boolean }): string {
  const paint = (code: number, text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  const parts = [
    paint(90, time.toISOString().slice(11, 23)),
    paint(colours[level], level.toUpperCase().padEnd(5)),
    ...(area === '' ? [] : [paint(90, area)]),
    printable(message),
  ];
  const stacks: string[] = [];
  for (const [key, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue;
    if (value instanceof Error) stacks.push(...errorLines(value));
    parts.push(`${paint(90, `${key}=`)}${printable(prettyValue(value))}`);
  }
  return `${[parts.join('  '), ...stacks.map((line) => `    ${printable(line)}`)].join('\n')}\n`;
}

function prettyValue(value: unknown): string {
  if (value instanceof Error) return toJson(value.message);
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : toJson(value);
}

/** A client's text must not be able to draw lines or colours of its own. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to hide
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, (character) =>
    character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, replaceUnwritable) ?? String(value);
  } catch (error) {
    return unwritable(error);
  }
}

function unwritable(error: unknown): string {
  return `not writable as JSON: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
}

function replaceUnwritable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  return typeof value === 'bigint' ? value.toString() : value;
}

const maxDepth = 6;

/** An error as plain data for the log, with its causes. */
function describeError(error: Error, depth = 0): Readonly<Record<string, unknown>> {
  const { name, message, stack, cause } = error;
  const { code, hint, errors } = error as { code?: unknown; hint?: unknown; errors?: unknown };
  const nested = (inner: unknown) =>
    inner instanceof Error && depth < maxDepth ? describeError(inner, depth + 1) : String(inner);
  return {
    name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(hint === undefined ? {} : { hint }),
    stack,
    ...(cause === undefined ? {} : { cause: nested(cause) }),
    ...(Array.isArray(errors) ? { errors: errors.slice(0, 10).map(nested) } : {}),
  };
}

/** The stack of an error and those of its causes, as lines for people. */
function errorLines(error: Error, depth = 0): readonly string[] {
  const lines = (error.stack ?? `${error.name}: ${error.message}`).split('\n');
  const { cause } = error;
  if (cause === undefined || depth >= maxDepth) return lines;
  const [first = '', ...rest] = cause instanceof Error ? errorLines(cause, depth + 1) : [String(cause)];
  return [...lines, `caused by ${first}`, ...rest];
}
