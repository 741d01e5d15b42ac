export const plotKinds = ['line', 'band', 'bars', 'histogram', 'scatter'] as const;
export type PlotKind = (typeof plotKinds)[number];

export const aggregates = ['avg', 'sum', 'min', 'max', 'count'] as const;
export type Aggregate = (typeof aggregates)[number];

/** An end of a range of x: µs since 1970, a number, or the text of a time or a number. */
export type RangeEnd = number | bigint | string;

/** The columns, the kind and the resolution of a plot. */
export interface PlotSpec {
  readonly kind: PlotKind;
  /** Undefined: the number of the row, from 0. */
  readonly x: string | undefined;
  /** None where only rows are counted. */
  readonly y: readonly string[];
  /** The column whose values divide rows into series. */
  readonly series: string | undefined;
  /** Device pixels. */
  readonly width: number;
  readonly height: number;
  readonly from: RangeEnd | undefined;
  readonly to: RangeEnd | undefined;
  /** For bars. */
  readonly aggregate: Aggregate;
  /** The most bars, or bins of a histogram. */
  readonly bins: number;
}

export const mostSeries = 8;
export const mostCategories = 50;
/** With more, a scatter plot is counted into cells. */
export const mostScatterPoints = 5000;
/** For a statement whose rows are reduced in this process. */
export const mostRows = 100_000;

export interface PlotSeries {
  /** The column that is drawn; null where rows are counted. */
  readonly column: string | null;
  /** The value of the column `series`; null where there is none, or where it is NULL. */
  readonly group: string | null;
  /** For bars and bins: their starts. */
  readonly x: readonly (number | string)[];
  readonly y: readonly (number | null)[];
  /** For bands. */
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
}

/** Points that were counted into cells. */
export interface PlotCells {
  readonly columns: number;
  readonly rows: number;
  readonly y: { readonly from: number; readonly to: number };
  /** Column, row and count of each cell that has some, one behind the other. */
  readonly counts: readonly number[];
}

export interface Plot {
  readonly kind: PlotKind;
  readonly x: {
    /** Null: the number of the row. */
    readonly column: string | null;
    /** Times are µs since 1970. */
    readonly type: 'time' | 'number' | 'category' | 'row';
    readonly from: number | null;
    readonly to: number | null;
  };
  readonly series: readonly PlotSeries[];
  readonly cells?: PlotCells;
  /** Width of a bar or a bin, in the unit of x. */
  readonly step?: number;
  /** For bars over texts: the number of texts, also of left-out ones. */
  readonly categoryCount?: number;
  /** Rows in the plotted range. */
  readonly rows: number;
  readonly points: number;
  /** Values of y in those rows that are NaN or infinite, and not drawn. Undefined if they are not counted. */
  readonly notFinite?: number;
  /** Every value of those rows is drawn. */
  readonly complete: boolean;
  /** The statement has more rows than were taken. */
  readonly cut: boolean;
  /** The number of series, also of left-out ones. */
  readonly seriesCount: number;
}
