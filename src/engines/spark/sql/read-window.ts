import type { ParseContext } from './parse-context.ts';

/** Suffixes of a call: WITHIN GROUP (…), FILTER (…), IGNORE NULLS, OVER … */
export function readCallSuffixes(reading: ParseContext): void {
  const { cursor } = reading;
  if (cursor.takes('within', 'group')) {
    cursor.inParentheses(() => {
      cursor.expect('order', 'by');
      readSortItems(reading);
    });
  }
  if (cursor.sees('filter') && cursor.seesSigns('(', 1)) {
    cursor.take();
    cursor.inParentheses(() => {
      cursor.expect('where');
      reading.read.expression(reading);
    });
  }
  if (cursor.takes('ignore') || cursor.takes('respect')) cursor.expect('nulls');
  if (!cursor.takes('over')) return;
  cursor.size.stack();
  readWindow(reading);
}

/** name, (name) or ([PARTITION BY …] [ORDER BY …] [ROWS | RANGE …]) */
export function readWindow(reading: ParseContext): void {
  const { cursor } = reading;
  if (!cursor.seesSigns('(')) {
    cursor.takeName('a window');
    return;
  }
  cursor.inParentheses(() => {
    if (cursor.seesName() && cursor.seesSigns(')', 1)) {
      cursor.take();
      return;
    }
    if (['partition', 'distribute', 'cluster'].some((word) => cursor.takes(word, 'by'))) {
      do reading.read.expression(reading);
      while (cursor.takesSigns(','));
    }
    if (cursor.takes('order', 'by') || cursor.takes('sort', 'by')) readSortItems(reading);
    if (!cursor.takes('rows') && !cursor.takes('range')) return;
    const isBetween = cursor.takes('between');
    readBound(reading);
    if (!isBetween) return;
    cursor.expect('and');
    readBound(reading);
  });
}

/** expression [ASC | DESC] [NULLS FIRST | LAST], … or ALL */
export function readSortItems(reading: ParseContext): void {
  const { cursor } = reading;
  do {
    if (!cursor.takes('all')) reading.read.expression(reading);
    if (!cursor.takes('asc')) cursor.takes('desc');
    if (cursor.takes('nulls') && !cursor.takes('first')) cursor.expect('last');
  } while (cursor.takesSigns(','));
}

function readBound(reading: ParseContext): void {
  const { cursor } = reading;
  if (cursor.takes('current', 'row')) return;
  if (!cursor.takes('unbounded')) reading.read.expression(reading);
  if (!cursor.takes('preceding')) cursor.expect('following');
}
