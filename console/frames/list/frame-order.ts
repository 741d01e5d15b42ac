import type { Frame } from '../frame.ts';

export type SortKey = 'handle' | 'rows' | 'bytes' | 'created';

/** Frames whose names have all the words, in order. */
export function chooseFrames(
  all: Iterable<Frame>,
  filter: string,
  order: { readonly by: SortKey; readonly isDescending: boolean },
): Frame[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen: Frame[] = [];
  for (const frame of all) {
    const name = frame.handle.toLowerCase();
    if (words.every((word) => name.includes(word))) chosen.push(frame);
  }
  const sign = order.isDescending ? -1 : 1;
  const compareNames = (one: Frame, other: Frame): number => (one.handle < other.handle ? -1 : 1);
  return chosen.sort((one, other) => {
    if (order.by === 'handle') return sign * compareNames(one, other);
    const [a, b] = [sortValue(one, order.by), sortValue(other, order.by)];
    // Unknown values come last in either order.
    if (a === undefined || b === undefined) return a === b ? compareNames(one, other) : a === undefined ? 1 : -1;
    return a === b ? compareNames(one, other) : sign * (a - b);
  });
}

function sortValue(frame: Frame, by: Exclude<SortKey, 'handle'>): number | undefined {
  switch (by) {
    case 'rows':
      return frame.rows ?? undefined;
    case 'bytes':
      return frame.bytes.cold;
    case 'created':
      return frame.created === null ? undefined : Date.parse(frame.created);
    default:
      return by satisfies never;
  }
}
