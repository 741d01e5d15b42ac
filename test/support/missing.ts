/** A tool of the tests is not on this machine and cannot be fetched. The message has the reason. */
export class Missing extends Error {}

/**
 * The tool of these tests, or undefined if they are left out, with a line about it. Never under CI: there it throws, since a
 * suite that silently does not run is worth nothing.
 */
export async function needed<T>(tests: string, find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (process.env.CI === 'true') throw new Error(`the tests of ${tests} cannot run: ${why}`, { cause: error });
    process.stderr.write(`skipped: the tests of ${tests}, since ${why}\n`);
    return undefined;
  }
}
