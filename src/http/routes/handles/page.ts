import { AppError } from '../../../core/errors/app-error.ts';
import type { FrameSummary } from '../../../frames/catalog/frame-summary.ts';

export const handleOrders = ['handle', 'created', 'bytes', 'rows', 'expires'] as const;
export type HandleOrder = (typeof handleOrders)[number];

export interface PageRequest {
  readonly order: HandleOrder;
  readonly descending: boolean;
  /** The end of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
}

export interface HandlePage {
  readonly frames: readonly FrameSummary[];
  /** For the next page; undefined at the end. */
  readonly next: string | undefined;
}

/** The sort key of a frame: a number, or nothing if it has none, and then its handle. */
interface SortKey {
  readonly number: number | undefined;
  readonly handle: string;
}

/**
 * One page of a listing. A cursor holds the sort key of the last frame, so that the next page begins in the right place even if
 * that frame is gone.
 */
export async function handlePage(listed: AsyncIterable<FrameSummary>, request: PageRequest): Promise<HandlePage> {
  const { order, limit } = request;
  const after = request.after === undefined ? undefined : parseCursor(request.after, order);
  const compare = comparison(request.descending);
  const found: { readonly frame: FrameSummary; readonly key: SortKey }[] = [];
  // Listings are in the order of handles; only in that order can they end early.
  const isSorted = order === 'handle' && !request.descending;
  for await (const frame of listed) {
    const key = { number: sortNumber(frame, order), handle: frame.handle };
    if (after !== undefined && compare(key, after) <= 0) continue;
    found.push({ frame, key });
    if (isSorted && found.length > limit) break;
  }
  if (!isSorted) found.sort((a, b) => compare(a.key, b.key));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { frames: page.map(({ frame }) => frame), next: hasMore ? cursorOf(last.key, order) : undefined };
}

function sortNumber(frame: FrameSummary, order: HandleOrder): number | undefined {
  switch (order) {
    case 'handle':
      return undefined;
    case 'bytes':
      return frame.bytes;
    case 'created':
      return frame.state === 'held' ? frame.createdAt : undefined;
    case 'rows':
      return frame.state === 'held' ? frame.rows : undefined;
    case 'expires':
      return frame.state === 'held' ? frame.expiresAt : undefined;
    default:
      return order satisfies never;
  }
}

/** Frames without a number come last, in both directions. */
function comparison(descending: boolean): (a: SortKey, b: SortKey) => number {
  const sign = descending ? -1 : 1;
  return (a, b) => {
    if (a.number !== b.number) {
      if (a.number === undefined) return 1;
      if (b.number === undefined) return -1;
      return a.number < b.number ? -sign : sign;
    }
    return a.handle === b.handle ? 0 : a.handle < b.handle ? -sign : sign;
  };
}

/** `~` is in no name. */
function cursorOf({ number, handle }: SortKey, order: HandleOrder): string {
  return order === 'handle' ? handle : `${order}~${number ?? ''}~${handle}`;
}

function parseCursor(text: string, order: HandleOrder): SortKey {
  if (order === 'handle') return { number: undefined, handle: text };
  const match = /^(\w+)~(\d{0,16})~([\w./-]{1,192})$/.exec(text);
  if (match === null || match[1] !== order) {
    throw new AppError('invalid_parameter', `after ${JSON.stringify(text.slice(0, 100))} is not of order=${order}`, {
      hint: 'give next of the page before, with the same order',
    });
  }
  const [, , digits = '', handle = ''] = match;
  return { number: digits === '' ? undefined : Number(digits), handle };
}
