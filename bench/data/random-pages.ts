/** Pages of a frame as `lo,hi`, 1-based and inclusive, at random rows: the same list for the same seed. */
export function randomPages(seed: number, count: number, rows: number, pageRows: number): string[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const from = 1 + Math.floor(random() * (rows - pageRows + 1));
    return `${from},${from + pageRows - 1}`;
  });
}

/** A small generator of random numbers in [0, 1) that can be seeded, unlike Math.random: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
