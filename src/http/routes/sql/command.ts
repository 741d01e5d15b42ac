import { AppError } from '../../../core/errors/app-error.ts';
import { localEngineName, tsdbEngineName } from '../../../core/names/engine-names.ts';
import { fileFormats } from '../../../core/rows/file-format.ts';
import { readSettings, type StatementSettings, statementSettings } from '../../../core/sql/statement-settings.ts';
import { didYouMean } from '../../../core/text/did-you-mean.ts';
import { checkKeys, isJsonObject } from '../../../encoding/json/json-object.ts';
import type { JsonValue } from '../../../encoding/json/json-text.ts';
import type { PutRequest } from '../../../frames/write/put-frame.ts';
import { parseColumnList } from '../../exchange/column-list.ts';
import { choice, frameName, integer, withDefault } from '../../exchange/parameters.ts';
import { engineDescription, type RequestedEngine, requestedEngine } from '../../exchange/requested-engine.ts';
import { parseRowLimit, type RowRange } from '../../exchange/row-limit.ts';
import { wrongType } from '../../json/json-body.ts';
import { type JsonKey, likeParameter, objectSchema, readKeys, textKey } from '../../json/json-keys.ts';
import { parseTtl, ttlSchema } from '../../json/json-ttl.ts';
import type { TableFormat } from '../../table/table.ts';
import { compressionOf, expParameters } from '../exp/command.ts';

/** Where the result of a statement is stored. */
export type Keep = Pick<PutRequest, 'handle' | 'mode' | 'ttlMs'>;

export interface SqlCommand extends RequestedEngine {
  readonly sql: string;
  readonly params: JsonValue | undefined;
  readonly settings: StatementSettings | undefined;
  readonly range: RowRange;
  readonly columns: readonly string[] | undefined;
  readonly timeoutMs: number | undefined;
  readonly format: TableFormat;
  /** Instead of being sent. */
  readonly keep: Keep | undefined;
}

const dayMs = 86_400_000;

const keepKeys = {
  handle: likeParameter(frameName('Where to. Without one the server makes one.')),
  mode: likeParameter(
    withDefault<PutRequest['mode']>(
      choice(['create', 'overwrite', 'append'], 'What to do with a frame that is there already: `create` refuses.'),
      'create',
    ),
  ),
  ttl: ttlKey(),
} as const;

/** Options of the form of rows: the same names as for /exp. */
const formatKeys = {
  nm: likeParameter(expParameters.nm),
  delimiter: likeParameter(expParameters.delimiter),
  filename: textKey('The name under which a browser saves it. Without it, it is shown.'),
  quoteLargeNum: likeParameter(expParameters.quoteLargeNum),
  quoteNonFinite: likeParameter(expParameters.quoteNonFinite),
  escapeFormulas: likeParameter(expParameters.escapeFormulas),
  compression_codec: likeParameter(expParameters.compression_codec),
  compression_level: likeParameter(expParameters.compression_level),
} as const;

export const sqlKeys = {
  sql: textKey('One statement, of at most 1 MiB.'),
  params: paramsKey(),
  settings: settingsKey(),
  engine: engineKey(),
  format: formatKey(),
  limit: limitKey(),
  cols: columnsKey(),
  timeout_ms: likeParameter(
    integer(
      { min: 1, max: dayMs },
      'Milliseconds within which the answer must begin; `sql.timeout`, or `query_timeout` of the engine, holds as well.',
    ),
  ),
  keep: keepKey(),
  ...formatKeys,
} as const;

export const sqlSchema = objectSchema(sqlKeys, ['sql'], {
  examples: [
    { sql: 'SELECT 1 AS one' },
    { sql: 'SELECT $1::INTEGER AS a, $2 AS b', params: [1, 'two'] },
    {
      sql: 'SELECT $day AS day, $ids AS ids',
      params: { day: { type: 'DATE', value: '2026-01-31' }, ids: [1, 2, 3] },
      format: 'csv',
    },
    {
      sql: "SELECT strftime(TIMESTAMPTZ '2026-01-31 23:30:00Z', '%d %H:%M') AS berlin",
      settings: { TimeZone: 'Europe/Berlin' },
    },
    { sql: 'SELECT range AS n FROM range(10)', limit: '3,5', format: 'ndjson' },
    { sql: 'SELECT range AS n FROM range(10)', keep: { handle: 'ten', ttl: '15m', mode: 'overwrite' } },
    { sql: 'CREATE OR REPLACE TABLE two AS SELECT 2 AS n' },
    { sql: 'INSERT INTO two VALUES ($1)', params: [3] },
    { sql: 'DROP TABLE two' },
  ],
});

/** `body` has none but the keys of `sqlKeys`. */
export function parseSqlCommand(
  body: ReadonlyMap<string, JsonValue>,
  { maxLimit }: { readonly maxLimit: number | undefined },
): SqlCommand {
  const { sql, params, settings, limit, cols, timeout_ms, format, keep, engine, ...written } = readKeys(sqlKeys, body);
  if (sql === undefined) {
    throw new AppError('missing_parameter', 'sql is not given', { hint: 'send {"sql":"SELECT …"}' });
  }
  const range = limit === undefined ? { from: 0, to: Infinity } : parseRowLimit(limit, maxLimit);
  if (keep !== undefined) refuseWriting(body);
  return {
    ...requestedEngine(engine, { defaultEngine: localEngineName }),
    sql,
    params,
    settings,
    // A sent result is limited by the operator's maximum of rows; a stored one is not sent.
    range: keep === undefined ? { ...range, to: Math.min(range.to, range.from + (maxLimit ?? Infinity)) } : range,
    columns: cols,
    timeoutMs: timeout_ms,
    format: {
      fmt: format ?? 'json',
      delimiter: written.delimiter,
      hasNames: !written.nm,
      escapesFormulas: written.escapeFormulas,
      quoteLargeNum: written.quoteLargeNum,
      quoteNonFinite: written.quoteNonFinite,
      compression: compressionOf(written.compression_codec, written.compression_level),
      filename: written.filename,
    },
    keep,
  };
}

/** A stored result is not sent to the client. */
function refuseWriting(body: ReadonlyMap<string, JsonValue>): void {
  const given = ['format', ...Object.keys(formatKeys)].find((key) => (body.get(key) ?? null) !== null);
  if (given === undefined) return;
  throw new AppError('invalid_parameter', `${given} and keep are given, and a result is sent or kept`, {
    hint: `leave one of them out; what is kept is read by its handle, for example GET /exp?handle=…&fmt=csv`,
  });
}

/** For `POST /plot`, too. */
export function paramsKey(): JsonKey<JsonValue | undefined> {
  return {
    schema: {
      type: ['array', 'object', 'null'],
      description:
        'Values of the parameters: an array for ? and $1, an object for $name (on a cluster engine ? and :name). A value is null, true, false, a number (a whole one is INTEGER, BIGINT or HUGEINT, every digit exact; any other DOUBLE), text (which the statement reads as what it needs, like a literal), an array of values, or {"type":…,"value":…} for any other type: DATE, TIMESTAMP, DECIMAL(10,2), UUID, INTERVAL, BLOB (in base64), JSON, DATE[] ….',
    },
    parse: (value) => value,
  };
}

function settingsKey(): JsonKey<StatementSettings | undefined> {
  const properties = Object.entries(statementSettings).map(([name, { standard, accepts, purpose }]) => [
    name,
    {
      type: standard === 'true' || standard === 'false' ? ['boolean', 'string'] : 'string',
      ...(standard !== '' && { default: standard }),
      description: `${purpose}: ${accepts}.`,
    },
  ]);
  return {
    schema: {
      type: ['object', 'null'],
      description: 'Settings of this statement alone, by name. Spark takes only TimeZone, Sail none.',
      properties: Object.fromEntries(properties),
      additionalProperties: false,
    },
    parse(value, key) {
      if (value === undefined) return undefined;
      if (!isJsonObject(value)) throw wrongType(key, value, 'an object such as {"TimeZone":"Europe/Berlin"}');
      return readSettings(
        [...value].map(([name, each]): [string, string | undefined] => {
          if (each === null) return [name, undefined];
          if (typeof each === 'string' || typeof each === 'boolean') return [name, String(each)];
          throw wrongType(`${key}.${name.slice(0, 100)}`, each, 'text, true or false');
        }),
      );
    },
  };
}

function engineKey(): JsonKey<string | undefined> {
  return {
    schema: { type: 'string', default: localEngineName, description: engineDescription },
    parse(value, key) {
      if (value === undefined) return undefined;
      if (typeof value !== 'string') throw wrongType(key, value, 'text');
      if (value !== tsdbEngineName) return value;
      throw new AppError('invalid_parameter', 'engine "tsdb" is not reached from here', {
        hint: 'ask the external database by GET /exec?query=…&fmt=json&engine=tsdb',
      });
    },
  };
}

function formatKey(): JsonKey<TableFormat['fmt'] | undefined> {
  return {
    schema: { type: 'string', enum: fileFormats, default: 'json', description: 'What the rows are written as.' },
    parse(value, key) {
      if (value === undefined) return undefined;
      if (typeof value !== 'string') throw wrongType(key, value, 'text');
      const found = fileFormats.find((each) => each === value.toLowerCase());
      if (found !== undefined) return found;
      const shown = JSON.stringify(value.slice(0, 100));
      throw new AppError('unsupported_format', `format ${shown} is not supported${didYouMean(value, fileFormats)}`, {
        hint: `use one of ${fileFormats.join(', ')}`,
      });
    },
  };
}

function limitKey(): JsonKey<string | undefined> {
  return {
    schema: {
      type: ['integer', 'string'],
      description: 'As of /exec: 100 or "100" are the first 100 rows, "11,20" rows 11 to 20, "11," those from 11 on.',
    },
    parse(value, key) {
      if (value === undefined || typeof value === 'string') return value;
      if (typeof value === 'number' || typeof value === 'bigint') return String(value);
      throw wrongType(key, value, 'a number, or text such as "11,20"');
    },
  };
}

function columnsKey(): JsonKey<readonly string[] | undefined> {
  return {
    schema: {
      type: ['string', 'array'],
      items: { type: 'string' },
      description: 'Which columns, in this order: an array of names, or text as for /exp.',
    },
    parse(value, key) {
      if (value === undefined) return undefined;
      if (typeof value === 'string') return parseColumnList(value);
      const isNames = Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string');
      if (isNames) return value as string[];
      throw wrongType(key, value, 'an array of names, or text with commas between them');
    },
  };
}

function ttlKey(): JsonKey<number | null | undefined> {
  return { schema: ttlSchema, parse: parseTtl };
}

function keepKey(): JsonKey<Keep | undefined> {
  return {
    schema: objectSchema(keepKeys, [], {
      description: 'The rows become a frame, which others read by its handle, and are not sent.',
    }),
    parse(value, key) {
      if (value === undefined) return undefined;
      if (!isJsonObject(value)) throw wrongType(key, value, 'an object such as {"handle":"result","ttl":"15m"}');
      checkKeys(value, Object.keys(keepKeys), key);
      const { handle, mode } = readKeys(keepKeys, value, `${key}.`);
      // Null, elsewhere the same as nothing, lets the frame stay.
      return { handle, mode, ttlMs: parseTtl(value.get('ttl'), `${key}.ttl`) };
    },
  };
}
