import type { Api } from '#client/api.ts';

/** A column that may be drawn, with its type as the server names it: LONG, VARCHAR, TIMESTAMP … */
export interface PlotColumn {
  readonly name: string;
  readonly type: string;
}

type PlotRequest = Api['POST /plot']['body'];

export type PlotKind = NonNullable<PlotRequest['kind']>;
export const plotKinds: readonly PlotKind[] = ['line', 'band', 'bars', 'histogram', 'scatter'];

export type Aggregate = NonNullable<PlotRequest['aggregate']>;
export const aggregates: readonly Aggregate[] = ['avg', 'sum', 'min', 'max', 'count'];

export const mostColumns = 8;
/** A text with more values than this identifies rows, not series: it is no default. */
export const mostUsualSeries = 24;

/** The settings of a plot. They may be in a link. */
export interface PlotSettings {
  readonly kind: PlotKind;
  /** Empty: the number of the row. */
  readonly x: string;
  readonly y: readonly string[];
  /** Empty: one series. */
  readonly series: string;
  readonly aggregate: Aggregate;
  readonly logX: boolean;
  readonly logY: boolean;
  readonly zone: 'utc' | 'local';
}

export type ColumnClass = 'time' | 'number' | 'text' | 'other';

export function classOf({ type }: PlotColumn): ColumnClass {
  const name = type.toUpperCase();
  if (name.endsWith(']')) return 'other';
  if (/^(TIMESTAMP|DATE|TIME)/.test(name)) return 'time';
  if (/^(BYTE|SHORT|INT|LONG|U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|UINT|FLOAT|DOUBLE|DECIMAL|REAL)/.test(name)) {
    return name.startsWith('INTERVAL') ? 'other' : 'number';
  }
  return /^(VARCHAR|STRING|SYMBOL|CHAR|BOOLEAN|UUID|IPV4)/.test(name) ? 'text' : 'other';
}

/** Over the first time, the first number that is not a key, a line for each text. */
export function defaultSettings(columns: readonly PlotColumn[]): PlotSettings {
  const ofClass = (wanted: ColumnClass): readonly PlotColumn[] =>
    columns.filter((column) => classOf(column) === wanted);
  const numbers = ofClass('number');
  const x = ofClass('time')[0]?.name ?? '';
  const measured = numbers.find(({ type }) => /^(FLOAT|DOUBLE|DECIMAL|REAL)/i.test(type)) ?? numbers[0];
  const text = ofClass('text')[0]?.name;
  const settings = { series: '', aggregate: 'avg', logX: false, logY: false, zone: 'utc' } as const;
  if (measured === undefined) return { ...settings, kind: 'bars', x: text ?? x, y: [] };
  // A result of a few groups: a text and its numbers.
  if (x === '' && text !== undefined && columns[0]?.name === text) {
    return { ...settings, kind: 'bars', x: text, y: [measured.name] };
  }
  if (x !== '') return { ...settings, kind: 'line', x, y: [measured.name], series: text ?? '' };
  const across = numbers.find((column) => column !== measured)?.name;
  return { ...settings, kind: 'line', x: across ?? '', y: [measured.name] };
}

/** The same for other columns: existing ones stay chosen. */
export function fitSettings(settings: PlotSettings | undefined, columns: readonly PlotColumn[]): PlotSettings {
  const usual = defaultSettings(columns);
  if (settings === undefined) return usual;
  const find = (name: string): PlotColumn | undefined => columns.find((column) => column.name === name);
  const isNumber = (name: string): boolean => {
    const column = find(name);
    return column !== undefined && (classOf(column) === 'number' || /^BOOLEAN/i.test(column.type));
  };
  const y = settings.y.filter(isNumber);
  const wantsX = settings.x !== '' && find(settings.x) === undefined;
  const lostAll = settings.y.length > 0 && y.length === 0;
  const fitted = {
    ...settings,
    x: wantsX ? usual.x : settings.x,
    y: lostAll ? usual.y : y,
    series: find(settings.series) === undefined ? '' : settings.series,
  };
  return { ...fitted, kind: possibleKind(fitted, columns) };
}

/** Over texts only bars stand, and a histogram needs something to count. */
function possibleKind(settings: PlotSettings, columns: readonly PlotColumn[]): PlotKind {
  const x = columns.find(({ name }) => name === settings.x);
  const isMeasured = x === undefined || classOf(x) === 'number' || classOf(x) === 'time';
  if (!isMeasured) return 'bars';
  if (settings.kind === 'histogram' && x === undefined) return 'line';
  return settings.y.length === 0 && settings.kind !== 'histogram' ? 'bars' : settings.kind;
}

/** The user's choice together with its consequences. */
export function changedSettings(
  settings: PlotSettings,
  change: Partial<PlotSettings>,
  columns: readonly PlotColumn[],
): PlotSettings {
  const isBack = settings.kind === 'histogram' && change.kind !== undefined && change.kind !== 'histogram';
  // A histogram is of the column that other kinds have as y.
  const wanted = { ...settings, ...(isBack && { x: defaultSettings(columns).x }), ...change };
  const first = (isRight: (column: PlotColumn) => boolean): string => columns.find(isRight)?.name ?? '';
  const x = columns.find(({ name }) => name === wanted.x);
  if (change.kind === 'histogram' && (x === undefined || classOf(x) !== 'number')) {
    return { ...wanted, x: wanted.y[0] ?? first((column) => classOf(column) === 'number') };
  }
  const needsY =
    wanted.y.length === 0 && change.kind !== undefined && change.kind !== 'histogram' && change.kind !== 'bars';
  const y = needsY ? [first((column) => classOf(column) === 'number')].filter((name) => name !== '') : wanted.y;
  const isText = x !== undefined && classOf(x) !== 'number' && classOf(x) !== 'time';
  if (change.kind !== undefined && change.kind !== 'bars' && isText)
    return { ...wanted, y, x: defaultSettings(columns).x };
  return { ...wanted, y, kind: possibleKind({ ...wanted, y }, columns) };
}
