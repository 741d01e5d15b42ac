import { AppError } from '../../core/errors/app-error.ts';
import { type FrameName, parseFrameName } from '../../core/names/frame-name.ts';
import { handlePattern } from '../../core/names/handle.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { parseDurationMs } from '../../core/text/duration.ts';

/** One parameter of a query string: its meaning, and its parser. */
export interface Parameter<Value> {
  readonly description: string;
  readonly schema: JsonSchema;
  /** `undefined`: it was not given. Throws an AppError that names the parameter and its value. */
  parse(text: string | undefined, name: string): Value;
}

export type ParameterTable = Readonly<Record<string, Parameter<unknown>>>;

export type Values<Table extends ParameterTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Parameter<infer Value> ? Value : never;
};

/** Reads the parameters of the table. Any other is refused: a misspelled parameter would have no effect, silently. */
export function readParameters<Table extends ParameterTable>(
  table: Table,
  given: ReadonlyMap<string, string>,
): Values<Table> {
  for (const name of given.keys()) {
    if (Object.hasOwn(table, name)) continue;
    const known = Object.keys(table);
    throw new AppError('invalid_parameter', `parameter ${shown(name)} is not known here${didYouMean(name, known)}`, {
      hint: known.length === 0 ? 'there are none in its URL' : `the parameters are ${known.join(', ')}`,
    });
  }
  const values = Object.entries(table).map(([name, parameter]) => [name, parameter.parse(given.get(name), name)]);
  return Object.fromEntries(values) as Values<Table>;
}

export function invalidParameter(name: string, text: string, hint: string): AppError {
  return new AppError('invalid_parameter', `${name} ${shown(text)} is not valid`, { hint });
}

function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** True only for `true`, in any case, as in QuestDB; and false only for `false`. */
export function flag(description: string): Parameter<boolean> {
  return {
    description,
    schema: { type: 'boolean', default: false },
    parse(text, name) {
      const word = text?.toLowerCase();
      if (word === undefined || word === 'false') return false;
      if (word === 'true') return true;
      throw invalidParameter(name, text ?? '', `write ${name}=true or ${name}=false`);
    },
  };
}

/** Description of the parameter `quoteNonFinite`, wherever rows are JSON. */
export const quoteNonFiniteText =
  'NaN, Infinity and -Infinity as strings, also infinite dates and timestamps, and those in arrays and structs: otherwise JSON has them as null.';

/** Neither true nor false where it is not given. */
export function optionalFlag(description: string): Parameter<boolean | undefined> {
  const given = flag(description);
  return {
    description,
    schema: { type: 'boolean' },
    parse: (value, name) => (value === undefined ? undefined : given.parse(value, name)),
  };
}

export function text(description: string): Parameter<string | undefined> {
  return { description, schema: { type: 'string' }, parse: (value) => value };
}

export function choice<Choice extends string>(
  choices: readonly Choice[],
  description: string,
): Parameter<Choice | undefined> {
  return {
    description,
    schema: { type: 'string', enum: choices },
    parse(value, name) {
      const found = choices.find((each) => each.toLowerCase() === value?.toLowerCase());
      if (value === undefined || found !== undefined) return found;
      throw invalidParameter(name, value, `it is one of ${choices.join(', ')}`);
    },
  };
}

export function integer(
  { min, max }: { readonly min: number; readonly max: number },
  description: string,
): Parameter<number | undefined> {
  return {
    description,
    schema: { type: 'integer', minimum: min, maximum: max },
    parse(value, name) {
      if (value === undefined) return undefined;
      const number = /^-?\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      throw invalidParameter(name, value, `it is a whole number from ${min} to ${max}`);
    },
  };
}

/** A handle, or `owner/handle`. */
export function frameName(description: string): Parameter<FrameName | undefined> {
  const handlePart = handlePattern.source.slice(1);
  return {
    description,
    schema: { type: 'string', pattern: `^([a-z0-9][a-z0-9_-]{0,62}/)?${handlePart}` },
    parse: (value) => (value === undefined ? undefined : parseFrameName(value)),
  };
}

/** A time to live: a duration, or `none` for a frame that stays. */
export function timeToLive(description: string): Parameter<number | null | undefined> {
  return {
    description,
    schema: { type: 'string', examples: ['90s', '15m', '12h', '7d', 'none'] },
    parse(value, name) {
      if (value === undefined) return undefined;
      if (value.toLowerCase() === 'none') return null;
      const ttlMs = parseDurationMs(value);
      if (ttlMs === 0) throw invalidParameter(name, value, `it is more than 0; ${name}=none lets the frame stay`);
      return ttlMs;
    },
  };
}

/** A duration of at least `minMs`. */
export function duration(
  { minMs, maxMs }: { readonly minMs: number; readonly maxMs: number },
  description: string,
): Parameter<number | undefined> {
  return {
    description,
    schema: { type: 'string', examples: ['500ms', '30s', '2m'] },
    parse(value, name) {
      if (value === undefined) return undefined;
      const ms = parseDurationMs(value);
      if (ms >= minMs && ms <= maxMs) return ms;
      throw invalidParameter(name, value, `it is from ${minMs / 1000} s to ${maxMs / 1000} s`);
    },
  };
}

/** One byte between fields. */
export function delimiter(description: string): Parameter<string | undefined> {
  return {
    description,
    schema: { type: 'string', minLength: 1, maxLength: 2 },
    parse(value, name) {
      if (value === undefined) return undefined;
      const character = value === '\\t' || value.toLowerCase() === 'tab' ? '\t' : value;
      if (/^[\t\x20-\x7e]$/.test(character) && !/[\w"'.+-]/.test(character)) return character;
      throw invalidParameter(name, value, 'it is one ASCII character such as , ; | or \\t');
    },
  };
}

/** The same, with a meaning where it is not given. */
export function withDefault<Value>(parameter: Parameter<Value | undefined>, value: Value): Parameter<Value> {
  return {
    ...parameter,
    schema: { ...parameter.schema, default: value },
    parse: (text, name) => parameter.parse(text, name) ?? value,
  };
}

/** Something of QuestDB's that its clients send and that means nothing here. */
export function ignored(description: string): Parameter<undefined> {
  return {
    description: `${description} Accepted for QuestDB's clients; has no effect here.`,
    schema: {},
    parse: () => undefined,
  };
}

export type JsonSchema = Readonly<Record<string, unknown>>;
