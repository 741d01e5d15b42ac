/** Called with each mark inside of a comment, where it ends, and the depth behind it. */
export type OnMark = (mark: string, end: number, depth: number) => void;

/** The end of the SQL comment that begins at `start`; undefined if it has none. Comments nest, for every engine. */
export function commentEnd(sql: string, start: number, onMark?: OnMark): number | undefined {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let found = marks.exec(sql); found !== null; found = marks.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
    onMark?.(found[0], marks.lastIndex, depth);
  }
  return undefined;
}
