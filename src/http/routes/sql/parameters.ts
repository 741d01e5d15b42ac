import { type ArrowField, type ArrowType, arrowField, listType, smallIpcStream, utf8Type } from '@framehold/arrow-ipc';
import { type DataType, parseSqlType, sqlTypeName, sqlTypeNames } from '@framehold/columns';
import { AppError } from '../../../core/errors/app-error.ts';
import type { Query } from '../../../core/sql/sql.ts';
import { asciiLower } from '../../../core/text/ascii-lower.ts';
import { didYouMean } from '../../../core/text/did-you-mean.ts';
import { checkKeys, isJsonObject } from '../../../encoding/json/json-object.ts';
import type { JsonObject, JsonValue } from '../../../encoding/json/json-text.ts';
import type { AnalysedStatement } from '../../../query/frame-sql.ts';
import { wrongType } from '../../json/json-body.ts';

/** Each becomes a column, and all of them are made in one go. */
const mostParameters = 4096;

/** A parameter for the engine: a column of one row. */
interface Cell {
  readonly field: ArrowField;
  readonly value: unknown;
}

const none = { parameterCount: 0 };

/** The part of a statement that takes parameters. */
export function parameterTakerOf(statement: AnalysedStatement): Pick<Query, 'parameterCount' | 'parameterNames'> {
  return 'query' in statement ? statement.query : none;
}

/** The values of a statement's parameters, as an Arrow IPC stream of one row. Undefined where it takes none. */
export function boundParameters(
  params: JsonValue | undefined,
  statement: Pick<Query, 'parameterCount' | 'parameterNames'>,
): Uint8Array | undefined {
  if (statement.parameterCount > mostParameters) throw tooManyParameters(statement.parameterCount);
  const cells = valuesOf(params, statement).map(({ name, path, value }) => cellOf(name, value, path));
  if (cells.length === 0) return undefined;
  const fields = cells.map(({ field }) => field);
  return smallIpcStream(fields, [cells.map(({ value }) => value)]);
}

function tooManyParameters(count: number): AppError {
  return new AppError('too_large', `the statement takes ${count} parameters, and at most ${mostParameters} are bound`, {
    hint: 'give a list as one parameter, and read it by unnest($1)',
  });
}

interface GivenValue {
  readonly name: string;
  readonly path: string;
  readonly value: JsonValue;
}

function valuesOf(
  params: JsonValue | undefined,
  { parameterCount, parameterNames }: Pick<Query, 'parameterCount' | 'parameterNames'>,
): GivenValue[] {
  if (params === undefined || params === null) {
    if (parameterCount === 0) return [];
    const count = `${parameterCount} parameter${parameterCount === 1 ? '' : 's'}`;
    const names = parameterNames === undefined ? '' : ` (${parameterNames.join(', ')})`;
    throw new AppError('missing_parameter', `the statement takes ${count}${names}, and params is not given`);
  }
  if (isJsonObject(params)) return byName(params, parameterCount, parameterNames);
  if (!Array.isArray(params)) throw wrongType('params', params, 'an array of values, or an object of them by name');
  if (parameterNames !== undefined) {
    throw new AppError('invalid_parameter', `the statement names its parameters: ${parameterNames.join(', ')}`, {
      hint: 'give params as an object of values by name',
    });
  }
  if (params.length < parameterCount) {
    throw new AppError('missing_parameter', `parameter ${params.length + 1} has no value`, {
      hint: `the statement takes ${parameterCount}, and params has ${params.length}`,
    });
  }
  if (params.length > parameterCount) {
    throw new AppError(
      'invalid_parameter',
      `params has ${params.length} values, and the statement takes ${parameterCount}`,
    );
  }
  return params.map((value: JsonValue, index) => ({ name: `${index + 1}`, path: `params[${index}]`, value }));
}

function byName(params: JsonObject, count: number, names: readonly string[] = []): GivenValue[] {
  if (names.length === 0 && count > 0) {
    throw new AppError('invalid_parameter', 'the parameters of the statement have no names', {
      hint: 'give params as an array, or name them in the statement: $name, on a cluster engine :name',
    });
  }
  const known = new Set(names.map(asciiLower));
  const keys = new Map<string, string>();
  for (const key of params.keys()) {
    const shown = JSON.stringify(key.slice(0, 100));
    if (!known.has(asciiLower(key))) {
      throw new AppError('invalid_parameter', `the statement has no parameter ${shown}${didYouMean(key, names)}`, {
        hint: names.length === 0 ? 'it takes none' : `it has ${names.join(', ')}`,
      });
    }
    if (keys.has(asciiLower(key))) {
      throw new AppError('invalid_parameter', `params has ${shown} twice: case does not tell parameters apart`);
    }
    keys.set(asciiLower(key), key);
  }
  return names.map((name) => {
    const key = keys.get(asciiLower(name));
    if (key === undefined) throw new AppError('missing_parameter', `parameter ${name} has no value`);
    return { name, path: `params.${key}`, value: params.get(key) ?? null };
  });
}

function cellOf(name: string, value: JsonValue, path: string): Cell {
  if (isJsonObject(value)) return typedCell(name, value, path);
  if (typeof value === 'bigint' && !fits(value, 64)) {
    return typedCell(
      name,
      new Map<string, JsonValue>([
        ['type', 'HUGEINT'],
        ['value', value],
      ]),
      path,
    );
  }
  const field = fieldOf(name, [value], path);
  // The statement decides the type of a text, as with a literal in it.
  return { field: typeof value === 'string' ? meant(field, { kind: 'null' }) : field, value };
}

/** Text, or lists of it, that the engine reads as the type. */
function typedCell(name: string, object: JsonObject, path: string): Cell {
  checkKeys(object, ['type', 'value'], path);
  const [given, value] = [object.get('type'), object.get('value')];
  if (typeof given !== 'string' || value === undefined) {
    throw new AppError('invalid_parameter', `${path} is an object without ${value === undefined ? 'value' : 'type'}`, {
      hint: 'write {"type":"DATE","value":"2026-01-31"}; JSON itself is {"type":"JSON","value":"…"}',
    });
  }
  const type = parseSqlType(given);
  if (type === undefined || holdsBytes(type)) {
    const shown = JSON.stringify(given.slice(0, 100));
    if (/^\s*(?:STRUCT|ROW|MAP|UNION)\b/i.test(given)) {
      throw new AppError('unsupported_type', `${path}: a parameter cannot have type ${shown}`, {
        hint: 'write the value into the statement, or give its fields as parameters of their own',
      });
    }
    throw new AppError('invalid_parameter', `${path}: type ${shown} is not known${didYouMean(given, sqlTypeNames)}`, {
      hint: `it is one of ${sqlTypeNames.join(', ')}, or a list such as DATE[]`,
    });
  }
  const { field, text } = textOf(name, type, value, path);
  return { field: meant(field, type), value: text };
}

function holdsBytes(type: DataType): boolean {
  return type.kind === 'list' && (type.element.kind === 'binary' || holdsBytes(type.element));
}

function textOf(name: string, type: DataType, value: JsonValue, path: string): { field: ArrowField; text: unknown } {
  if (type.kind !== 'list') return { field: arrowField(name, utf8Type), text: leafText(value, type, path) };
  const { element } = type;
  if (value !== null && !Array.isArray(value)) throw wrongType(path, value, `an array for ${sqlTypeName(type)}`);
  const items = (value ?? []) as readonly JsonValue[];
  const texts = items.map((item, index) => textOf('item', element, item, `${path}[${index}]`).text);
  const { field } = textOf('item', element, null, path);
  return { field: arrowField(name, listType, { children: [field] }), text: value === null ? null : texts };
}

function leafText(value: JsonValue, type: DataType, path: string): string | null {
  if (value === null) return null;
  if (typeof value === 'string') return wellFormed(value, path);
  if (typeof value === 'object') throw wrongType(path, value, `text or a number for ${sqlTypeName(type)}`);
  return String(value);
}

/** The one type that all these values have. */
function fieldOf(name: string, values: readonly JsonValue[], path: string): ArrowField {
  const present = values.filter((value) => value !== null);
  const kinds = new Set(present.map((value) => (Array.isArray(value) ? 'array' : typeof value)));
  const only = (...allowed: string[]): boolean => [...kinds].every((kind) => allowed.includes(kind));
  if (present.length === 0) return arrowField(name, { kind: 'null' });
  if (only('boolean')) return arrowField(name, { kind: 'bool' });
  if (only('number', 'bigint')) return arrowField(name, numberType(present as (number | bigint)[], path));
  if (only('string')) {
    for (const value of present) wellFormed(value as string, path);
    return arrowField(name, utf8Type);
  }
  if (only('array')) {
    const items = (present as (readonly JsonValue[])[]).flat();
    return arrowField(name, listType, { children: [fieldOf('item', items, path)] });
  }
  if (kinds.has('object')) {
    throw new AppError('invalid_parameter', `${path} is a list with objects in it`, {
      hint: 'name the type of the whole list: {"type":"DATE[]","value":["2026-01-31"]}',
    });
  }
  throw new AppError('invalid_parameter', `${path} is a list of values of different types`);
}

/** As a literal of the same digits: the smallest of INTEGER and BIGINT, and DOUBLE where there is a fraction. */
function numberType(values: readonly (number | bigint)[], path: string): ArrowType {
  const isWhole = (value: number | bigint): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);
  if (!values.every(isWhole)) return { kind: 'float', bits: 64 };
  const allFit = (bits: number): boolean => values.every((value) => fits(BigInt(value), bits));
  if (allFit(32)) return { kind: 'int', bits: 32, signed: true };
  if (allFit(64)) return { kind: 'int', bits: 64, signed: true };
  throw new AppError('invalid_parameter', `${path} holds a number beyond 64 bits`, {
    hint: 'name the type of the whole list: {"type":"HUGEINT[]","value":[…]}',
  });
}

function fits(value: bigint, bits: number): boolean {
  return BigInt.asIntN(bits, value) === value;
}

/** The SQL type that the engine is to read the text as. */
function meant(field: ArrowField, type: DataType): ArrowField {
  return { ...field, metadata: { 'ARROW:FLIGHT:SQL:TYPE_NAME': sqlTypeName(type) } };
}

/** Half a pair of surrogates cannot be written in UTF-8. */
function wellFormed(text: string, path: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new AppError('invalid_parameter', `${path} holds text that is not Unicode`);
  return text;
}
