const maxDepth = 6;

/** An error as plain data for the log, with its causes. */
export function describeError(error: Error, depth = 0): Readonly<Record<string, unknown>> {
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
export function errorLines(error: Error, depth = 0): readonly string[] {
  const lines = (error.stack ?? `${error.name}: ${error.message}`).split('\n');
  const { cause } = error;
  if (cause === undefined || depth >= maxDepth) return lines;
  const [first = '', ...rest] = cause instanceof Error ? errorLines(cause, depth + 1) : [String(cause)];
  return [...lines, `caused by ${first}`, ...rest];
}
