/** What tests need is not on this machine and cannot be fetched. The message says why. */
export class Missing extends Error {}

/**
 * What these tests need, or undefined where they are left out, which is said in one line. Never under CI: there it
 * throws, since a suite that silently does not run is worth nothing.
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
