import { AppError } from '../errors/app-error.ts';
import { asciiLower } from '../text/ascii-lower.ts';
import { didYouMean } from '../text/did-you-mean.ts';

/** A caller's settings for a statement, by the names of the table below. Standard values are left out. */
export type StatementSettings = Readonly<Record<string, string>>;

interface Setting {
  /** The default. */
  readonly standard: string;
  /** For messages and the docs. */
  readonly accepts: string;
  readonly purpose: string;
  /** The value in the engine's form; undefined if it is not accepted. */
  read(value: string): string | undefined;
}

/** Settings that only change the result of a statement. Nothing else of the engine can be set. */
export const statementSettings: Readonly<Record<string, Setting>> = {
  TimeZone: {
    ...name('UTC', 'the name of a time zone such as Europe/Berlin'),
    purpose:
      'The zone of casts between `TIMESTAMPTZ` and text, date or `TIMESTAMP`, of date parts and of `current_date`',
  },
  Calendar: {
    ...name('gregorian', 'the name of a calendar such as japanese'),
    purpose: 'The calendar of date parts and of `strftime` of a `TIMESTAMPTZ`',
  },
  default_null_order: {
    ...choice({
      NULLS_LAST: ['last'],
      NULLS_FIRST: ['first'],
      NULLS_FIRST_ON_ASC_LAST_ON_DESC: ['sqlite', 'mysql'],
      NULLS_LAST_ON_ASC_FIRST_ON_DESC: ['postgres'],
    }),
    purpose: 'Where `ORDER BY` puts `NULL`',
  },
  default_order: { ...choice({ ASC: ['ascending'], DESC: ['descending'] }), purpose: 'The order of `ORDER BY x`' },
  default_collation: {
    ...name('', 'the name of a collation such as de, NOCASE or NOCASE.NOACCENT'),
    purpose: 'How text is compared and sorted',
  },
  integer_division: { ...flag('false'), purpose: '`/` of integers divides without a remainder, as in PostgreSQL' },
  ieee_floating_point_ops: { ...flag('true'), purpose: 'Division by zero is infinity or NaN; otherwise `NULL`' },
  old_implicit_casting: { ...flag('false'), purpose: 'Any type is cast to text where text is needed' },
  order_by_non_integer_literal: { ...flag('false'), purpose: "`ORDER BY 'x'` is allowed, and orders nothing" },
  scalar_subquery_error_on_multiple_rows: {
    ...flag('true'),
    purpose: 'A subquery as a value that gives several rows is an error; otherwise its first row counts',
  },
};

export const settingNames: readonly string[] = Object.keys(statementSettings);
const longestShown = 100;

/** The name of a setting as the table spells it, from any spelling. */
export function settingName(given: string): string | undefined {
  return settingNames.find((each) => asciiLower(each) === asciiLower(given));
}

/** With one more setting, or undefined: with the standard again. Throws an AppError with the setting's name and its values. */
export function withSetting(
  settings: StatementSettings | undefined,
  given: string,
  value: string | undefined,
): StatementSettings | undefined {
  const name = settingName(given);
  const setting = name === undefined ? undefined : statementSettings[name];
  if (name === undefined || setting === undefined) throw unknownSetting(given);
  const read = value === undefined ? setting.standard : setting.read(value);
  if (read === undefined) throw wrongSetting(name, value ?? '');
  const wanted: Record<string, string> = { ...settings, [name]: read };
  // In the order of the table, so that the same settings are the same text.
  const entries = settingNames.flatMap((each): [string, string][] => {
    const kept = wanted[each];
    return kept === undefined || kept === statementSettings[each]?.standard ? [] : [[each, kept]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** From names and values of anyone's. */
export function readSettings(given: Iterable<readonly [string, string | undefined]>): StatementSettings | undefined {
  let settings: StatementSettings | undefined;
  const seen = new Set<string>();
  for (const [name, value] of given) {
    const key = asciiLower(name);
    if (seen.has(key)) throw new AppError('invalid_parameter', `the setting ${shown(name)} is given twice`);
    seen.add(key);
    settings = withSetting(settings, name, value);
  }
  return settings;
}

/** The value is invalid. `known` are the valid ones, if they have names. */
export function wrongSetting(name: string, value: string, known: readonly string[] = []): AppError {
  const suggestion = didYouMean(value, known);
  return new AppError('invalid_parameter', `the setting ${name} cannot be ${shown(value)}${suggestion}`, {
    hint: `it is ${statementSettings[name]?.accepts ?? 'one of the table'}`,
  });
}

/** The engine ignores it, or gives it another meaning. */
export function settingNotTaken(name: string, engine: string): AppError {
  return new AppError('invalid_parameter', `engine ${engine} does not take the setting ${name}`, {
    hint: 'the engine local does; on another one write what you mean into the statement',
  });
}

function unknownSetting(given: string): AppError {
  const message = `a statement has no setting ${shown(given)}${didYouMean(given, settingNames)}`;
  return new AppError('invalid_parameter', message, { hint: `its settings are ${settingNames.join(', ')}` });
}

function shown(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}

type Values = Pick<Setting, 'standard' | 'accepts' | 'read'>;

/** Which names there are the engine knows. */
function name(standard: string, accepts: string): Values {
  const read = (value: string): string | undefined => {
    if (value === '' && standard !== '') return undefined;
    if (!/^[\w./+-]{0,64}$/.test(value)) return undefined;
    return asciiLower(value) === asciiLower(standard) ? standard : value;
  };
  return { standard, accepts, read };
}

/** The first one is the standard. The words for each are DuckDB's aliases. */
function choice(values: Readonly<Record<string, readonly string[]>>): Values {
  const [standard = ''] = Object.keys(values);
  const read = (value: string): string | undefined => {
    const word = asciiLower(value.trim()).replaceAll(/\s+/g, '_');
    return Object.entries(values).find(([each, others]) => asciiLower(each) === word || others.includes(word))?.[0];
  };
  return { standard, accepts: Object.keys(values).join(', '), read };
}

function flag(standard: 'true' | 'false'): Values {
  const words: Readonly<Record<string, string>> = {
    true: 'true',
    on: 'true',
    1: 'true',
    false: 'false',
    off: 'false',
    0: 'false',
  };
  const read = (value: string): string | undefined => {
    const word = asciiLower(value);
    return Object.hasOwn(words, word) ? words[word] : undefined;
  };
  return { standard, accepts: 'true or false', read };
}
