/**
 * Chromium clamps an element at 33.5 million px ÷ devicePixelRatio; one of more than 17.9 million has no height at all in
 * Firefox. A table of 50 million rows is higher, so the bar moves over less, and the place in the table is kept apart.
 */
export const maxSpacerPx = 6_000_000;

/** So far from either end, the bar and the table move alike. */
const edgePx = 100_000;
/** So far the bar may be from where it belongs before it is put there. */
const maxDriftPx = 50_000;

export interface ScrollPosition {
  /** Of the scrolling element. */
  readonly scrollTop: number;
  /** The topmost px of the table in the viewport, as if the table had its full height. */
  readonly offset: number;
}

/** Maps the scroll bar to a table that may be higher than any element. */
export class ScrollGeometry {
  /** The height of the placeholder for the table. */
  readonly spacerPx: number;
  readonly maxOffset: number;
  readonly maxScrollTop: number;
  readonly #viewportPx: number;

  constructor(contentPx: number, viewportPx: number) {
    this.spacerPx = Math.min(contentPx, maxSpacerPx);
    this.maxOffset = Math.max(0, contentPx - viewportPx);
    this.maxScrollTop = Math.max(0, this.spacerPx - viewportPx);
    this.#viewportPx = viewportPx;
  }

  get #isScaled(): boolean {
    return this.maxOffset > this.maxScrollTop;
  }

  /** Px of the table for each px of the bar, between the two ends. */
  get #scale(): number {
    return (this.maxOffset - 2 * edgePx) / (this.maxScrollTop - 2 * edgePx);
  }

  /** The offset for a position of the bar. */
  offsetAt(scrollTop: number): number {
    const fromEnd = this.maxScrollTop - scrollTop;
    if (!this.#isScaled || scrollTop <= edgePx) return clamp(scrollTop, this.maxOffset);
    if (fromEnd <= edgePx) return clamp(this.maxOffset - fromEnd, this.maxOffset);
    return edgePx + (scrollTop - edgePx) * this.#scale;
  }

  /** The position of the bar. */
  scrollTopAt(offset: number): number {
    const fromEnd = this.maxOffset - offset;
    if (!this.#isScaled || offset <= edgePx) return clamp(offset, this.maxScrollTop);
    if (fromEnd <= edgePx) return clamp(this.maxScrollTop - fromEnd, this.maxScrollTop);
    return edgePx + (offset - edgePx) / this.#scale;
  }

  at(offset: number): ScrollPosition {
    const kept = clamp(offset, this.maxOffset);
    return { scrollTop: this.scrollTopAt(kept), offset: kept };
  }

  /**
   * After the browser has scrolled: a small step moves the table by as many px, a jump by its share. Where `scrollTop` of the
   * result is another than the given one, the bar has to be put there.
   */
  scrolled(from: ScrollPosition, scrollTop: number): ScrollPosition {
    // Elastic scrolling goes beyond both ends.
    const to = clamp(scrollTop, this.maxScrollTop);
    const step = to - from.scrollTop;
    if (!this.#isScaled || Math.abs(step) > this.#largestStepPx) return { scrollTop: to, offset: this.offsetAt(to) };
    return this.#settled(to, clamp(from.offset + step, this.maxOffset));
  }

  /** After the table or the viewport has another height. */
  kept(from: ScrollPosition): ScrollPosition {
    if (!this.#isScaled) return this.at(from.offset);
    return this.#settled(clamp(from.scrollTop, this.maxScrollTop), clamp(from.offset, this.maxOffset));
  }

  get #largestStepPx(): number {
    return Math.max(4000, 3 * this.#viewportPx);
  }

  #settled(scrollTop: number, offset: number): ScrollPosition {
    const right = this.scrollTopAt(offset);
    // Browsers round scrollTop to device pixels: the last px of the bar are the ends of the table.
    if (scrollTop <= 1 && right <= 1) return { scrollTop, offset: 0 };
    if (this.maxScrollTop - scrollTop <= 1 && this.maxScrollTop - right <= 2)
      return { scrollTop, offset: this.maxOffset };
    // The bar must not reach its end before the table does.
    const mayDriftPx = Math.min(maxDriftPx, right / 2, (this.maxScrollTop - right) / 2);
    return { scrollTop: Math.abs(scrollTop - right) > mayDriftPx + 0.5 ? right : scrollTop, offset };
  }
}

function clamp(value: number, most: number): number {
  return Math.min(Math.max(value, 0), most);
}
