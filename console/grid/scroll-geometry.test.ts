import { describe, expect, it } from 'vitest';
import { maxSpacerPx, ScrollGeometry, type ScrollPosition } from './scroll-geometry.ts';

const rowPx = 25;
const viewportPx = 700;

describe('a table that is lower than the spacer may be', () => {
  it('moves with the bar', () => {
    const geometry = new ScrollGeometry(1000 * rowPx, viewportPx);
    expect(geometry.spacerPx).toBe(25_000);
    expect(geometry.scrolled({ scrollTop: 0, offset: 0 }, 12_345.5)).toEqual({ scrollTop: 12_345.5, offset: 12_345.5 });
    expect(geometry.at(1e9)).toEqual({ scrollTop: 24_300, offset: 24_300 });
  });

  it('does not scroll where it has room', () => {
    expect(new ScrollGeometry(3 * rowPx, viewportPx).at(50)).toEqual({ scrollTop: 0, offset: 0 });
  });
});

describe('a table of 50 million rows', () => {
  const geometry = new ScrollGeometry(50_000_000 * rowPx, viewportPx);

  it('has a spacer that every browser bears', () => {
    expect(geometry.spacerPx).toBe(maxSpacerPx);
  });

  it('shows its ends at the ends of the bar', () => {
    expect(geometry.offsetAt(0)).toBe(0);
    expect(geometry.offsetAt(geometry.maxScrollTop)).toBe(geometry.maxOffset);
    expect(geometry.maxOffset).toBe(50_000_000 * rowPx - viewportPx);
  });

  it('finds the place of the bar again for every row', () => {
    for (let row = 0; row < 50_000_000; row += 1_234_567) {
      const { scrollTop, offset } = geometry.at(row * rowPx);
      expect(offset).toBe(row * rowPx);
      expect(geometry.offsetAt(scrollTop)).toBeCloseTo(offset, 3);
    }
  });

  it('moves by the px of a small step', () => {
    const from = geometry.at(20_000_000 * rowPx);
    const to = geometry.scrolled(from, from.scrollTop + 100);
    expect(to).toEqual({ scrollTop: from.scrollTop + 100, offset: from.offset + 100 });
  });

  it('moves by the share of a jump', () => {
    const { offset } = geometry.scrolled(geometry.at(0), geometry.maxScrollTop / 2);
    expect(offset).toBeCloseTo(geometry.maxOffset / 2, 0);
  });

  it('does not drift by steps to and fro, nor by putting the bar', () => {
    const begin = geometry.at(31_000_017 * rowPx);
    let position = begin;
    let [moved, puts] = [0, 0];
    for (let step = 0; step < 5000; step++) {
      const by = step < 2500 ? 100 : -100;
      const next = geometry.scrolled(position, position.scrollTop + by);
      if (next.scrollTop !== position.scrollTop + by) puts++;
      position = browserAt(next);
      moved += by;
    }
    expect(moved).toBe(0);
    expect(puts).toBeGreaterThan(0);
    expect(position.offset).toBe(begin.offset);
  });

  it.each([
    ['up', -1],
    ['down', 1],
  ])('can be scrolled %s to its end by small steps from near it', (_, direction) => {
    const end = direction < 0 ? 0 : geometry.maxOffset;
    let position = browserAt(geometry.at(end - direction * 300_000));
    for (let steps = 0; position.offset !== end; steps++) {
      expect(steps).toBeLessThan(400);
      const to = Math.min(Math.max(position.scrollTop + direction * 1000, 0), geometry.maxScrollTop);
      position = browserAt(geometry.scrolled(position, to));
    }
    expect(position.scrollTop).toBeCloseTo(direction < 0 ? 0 : geometry.maxScrollTop, 0);
  });

  it('takes elastic scrolling for the end', () => {
    expect(geometry.scrolled(geometry.at(0), -80)).toEqual({ scrollTop: 0, offset: 0 });
  });

  it('keeps its row when it grows', () => {
    const grown = new ScrollGeometry(60_000_000 * rowPx, viewportPx);
    const from = geometry.at(49_000_000 * rowPx);
    expect(grown.kept(from).offset).toBe(from.offset);
    expect(grown.kept(from).scrollTop).toBeCloseTo(grown.scrollTopAt(from.offset), 0);
  });
});

/** A browser rounds positions to device pixels. */
function browserAt({ scrollTop, offset }: ScrollPosition): ScrollPosition {
  return { scrollTop: Math.round(scrollTop * 2) / 2, offset };
}
