interface Suppressed extends Error {
  /** What went wrong before. */
  readonly suppressed: unknown;
}

/** What went wrong first, where `using` found that cleaning up behind it failed, too. */
export function firstError(thrown: unknown): unknown {
  return isSuppressed(thrown) ? firstError(thrown.suppressed) : thrown;
}

/** By its name: Node 20 has no such class yet. */
function isSuppressed(thrown: unknown): thrown is Suppressed {
  return thrown instanceof Error && thrown.name === 'SuppressedError' && 'suppressed' in thrown;
}
