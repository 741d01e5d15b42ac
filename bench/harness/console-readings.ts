export interface JumpReading {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly jumps: number;
  /** Where the row that was asked for was not shown with its own cells. */
  readonly wrong: number;
}

export interface ListReading {
  readonly firstPaintMs: number;
  /** Until the first frames are visible: the largest contentful paint. */
  readonly firstRowsMs: number;
  /** Time of main-thread tasks beyond 50 ms each, until all frames are listed. */
  readonly blockedMs: number;
  readonly listed: number;
}

export interface PlotReading {
  /** From the link to the line. */
  readonly drawnMs: number;
  /** From the mouse that is let go to the line of a hundredth of x. */
  readonly zoomMs: number;
  /** The plot's own description. */
  readonly shown: string;
  readonly zoomed: string;
}

export interface ScrollReading {
  /** Between two frames of the browser. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of the main thread, for each frame. */
  readonly workMs: number;
  readonly frames: number;
  readonly nodes: number;
  /** Rows with cells of another row. */
  readonly wrongRows: number;
}
