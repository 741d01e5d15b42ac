/** For random or many inputs: a sample in the suite, all of them in `npm run torture`, which names the file. */
export function sized(inSuite: number, inTorture: number): number {
  return process.env.TORTURE === 'true' ? inTorture : inSuite;
}
