/** Wrong usage or configuration. Its message is the one line that the user sees; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
