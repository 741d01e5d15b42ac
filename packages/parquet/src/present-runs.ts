/** Runs [first, end) of rows between `from` and `to` whose bit is set. */
export function* presentRuns(validity: Uint8Array, from: number, to: number): Generator<[number, number]> {
  let first = -1;
  for (let row = from; row < to; row++) {
    const isPresent = (((validity[row >> 3] as number) >> (row & 7)) & 1) === 1;
    if (isPresent === first >= 0) continue;
    if (isPresent) first = row;
    else {
      yield [first, row];
      first = -1;
    }
  }
  if (first >= 0) yield [first, to];
}
