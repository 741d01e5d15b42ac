import { AppError } from '../../../core/errors/app-error.ts';
import { localEngineName } from '../../../core/names/engine-names.ts';
import type { FrameName } from '../../../core/names/frame-name.ts';
import type { JsonValue } from '../../../encoding/json/json-text.ts';
import { aggregates, mostRows, mostSeries, type PlotSpec, plotKinds, type RangeEnd } from '../../../plot/plot-spec.ts';
import { choice, frameName, integer, withDefault } from '../../exchange/parameters.ts';
import { engineDescription, type RequestedEngine, requestedEngine } from '../../exchange/requested-engine.ts';
import { wrongType } from '../../json/json-body.ts';
import { type JsonKey, likeParameter, objectSchema, readKeys, textKey } from '../../json/json-keys.ts';
import { paramsKey } from '../sql/command.ts';

export type PlotCommand = { readonly spec: PlotSpec } & (
  | { readonly source: 'frame'; readonly handle: FrameName }
  | ({
      readonly source: 'statement';
      readonly sql: string;
      readonly params: JsonValue | undefined;
    } & RequestedEngine)
);

export const plotKeys = {
  handle: likeParameter(frameName('The frame to draw; or `sql`.')),
  sql: textKey('A query whose rows are drawn; or `handle`.'),
  engine: textKey(
    `${engineDescription} Or \`tsdb\`. Of an engine other than local at most ${mostRows} rows are taken.`,
  ),
  params: paramsKey(),
  kind: likeParameter(
    withDefault(
      choice(
        plotKinds,
        '`line`: the first, last, lowest and highest point of each pixel column; `band`: average, lowest and highest value of each; `bars`: an aggregate for each span of x, or for each text; `histogram`: how often values of `x` occur; `scatter`: all points, or counts of cells where they are many.',
      ),
      'line',
    ),
  ),
  x: textKey('A column of times or numbers; for bars also of texts. Default: the number of the row.'),
  y: namesKey(),
  series: textKey(`A column whose values tell series apart. The ${mostSeries} with the most rows are drawn.`),
  width: likeParameter(
    withDefault(integer({ min: 2, max: 16_384 }, 'Of the plot, in device pixels: 2 to 16384.'), 1000),
  ),
  height: likeParameter(
    withDefault(
      integer({ min: 2, max: 16_384 }, 'Of the plot, in device pixels, 2 to 16384: for the cells of `scatter`.'),
      500,
    ),
  ),
  from: endKey('The least x: µs since 1970 or a text such as `2026-01-31T12:00:00Z` for times.'),
  to: endKey('The greatest x.'),
  aggregate: likeParameter(withDefault(choice(aggregates, 'What a bar is of its values.'), 'avg')),
  bins: likeParameter(withDefault(integer({ min: 1, max: 1000 }, 'The most bars or bins: 1 to 1000.'), 60)),
} as const;

export const plotSchema = objectSchema(plotKeys, [], {
  examples: [
    { sql: 'SELECT range AS n, sin(range / 100) AS y FROM range(100000)', x: 'n', y: ['y'], from: 500, to: 900 },
    { sql: 'SELECT range % $by AS n FROM range(1000)', params: { by: 7 }, kind: 'histogram', x: 'n', bins: 40 },
  ],
});

/** `body` has none but the keys of `plotKeys`. */
export function parsePlotCommand(body: ReadonlyMap<string, JsonValue>): PlotCommand {
  const { handle, sql, engine, params, ...spec } = readKeys(plotKeys, body);
  if (handle !== undefined && sql !== undefined) {
    throw new AppError('invalid_parameter', 'handle and sql are given, and one of them is drawn');
  }
  if (handle !== undefined) {
    if (engine !== undefined) throw new AppError('invalid_parameter', 'engine is given without sql');
    if (params !== undefined) throw new AppError('invalid_parameter', 'params is given without sql');
    return { source: 'frame', handle, spec };
  }
  if (sql !== undefined) {
    return { source: 'statement', sql, params, ...requestedEngine(engine, { defaultEngine: localEngineName }), spec };
  }
  throw new AppError('missing_parameter', 'neither handle nor sql is given', {
    hint: 'send {"handle":"trades","x":"timestamp","y":["price"]}',
  });
}

function namesKey(): JsonKey<readonly string[]> {
  return {
    schema: {
      type: ['string', 'array'],
      items: { type: 'string' },
      maxItems: mostSeries,
      description: `Columns of numbers, ${mostSeries} at most. Needed but for histograms and bars, which count rows without them.`,
    },
    parse(value, key) {
      if (value === undefined) return [];
      const names = typeof value === 'string' ? [value] : value;
      if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) {
        throw wrongType(key, value, 'the name of a column, or an array of names');
      }
      if (names.length > mostSeries) {
        throw new AppError(
          'invalid_parameter',
          `${key} has ${names.length} columns, and ${mostSeries} are drawn at most`,
        );
      }
      return [...new Set(names as string[])];
    },
  };
}

function endKey(description: string): JsonKey<RangeEnd | undefined> {
  return {
    schema: { type: ['number', 'string'], description },
    parse(value, key) {
      if (value === undefined || typeof value === 'number' || typeof value === 'bigint') return value;
      if (typeof value === 'string') return value;
      throw wrongType(key, value, 'a number, or the text of a time');
    },
  };
}
