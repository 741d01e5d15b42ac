interface Suppressed extends Error {
  /** The first error. */
  readonly suppressed: unknown;
}

/** The first error, where a cleanup by `using` failed, too. */
export function firstError(thrown: unknown): unknown {
  return isSuppressed(thrown) ? firstError(thrown.suppressed) : thrown;
}

/** By its name: Node 20 has no such class yet. */
function isSuppressed(thrown: unknown): thrown is Suppressed {
  return thrown instanceof Error && thrown.name === 'SuppressedError' && 'suppressed' in thrown;
}
