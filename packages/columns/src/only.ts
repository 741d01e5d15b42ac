/** A stream of one value. */
export async function* only<T>(value: T): AsyncGenerator<T, void, undefined> {
  yield value;
}
