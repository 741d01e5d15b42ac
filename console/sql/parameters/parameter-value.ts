import { parseExactJson } from '../../api/exact-json.ts';
import type { StatementParameter } from './statement-parameters.ts';

export const parameterTypes = {
  auto: 'automatic',
  text: 'text',
  number: 'number',
  boolean: 'true or false',
  date: 'date',
  timestamp: 'timestamp',
  json: 'list or type, as JSON',
  null: 'NULL',
} as const;

export type ParameterType = keyof typeof parameterTypes;

/** As somebody typed it. */
export interface ParameterValue {
  readonly type: ParameterType;
  readonly text: string;
}

export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/** As the server takes it: an array for `?` and `$1`, an object for names. */
export type BoundParameters = readonly unknown[] | Readonly<Record<string, unknown>>;

export const noValue: ParameterValue = { type: 'auto', text: '' };
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const notFinite = /^(?:NaN|[+-]?Infinity)$/;

/** Text of a value that cannot be sent. */
export class WrongValue extends Error {
  /** Key of the parameter. */
  readonly key: string;

  constructor({ key, label }: StatementParameter, what: string) {
    super(`${label} ${what}`);
    this.key = key;
  }
}

/** Undefined: the statement takes none. Throws WrongValue. */
export function boundParameters(
  parameters: readonly StatementParameter[],
  typed: (key: string) => ParameterValue,
): BoundParameters | undefined {
  if (parameters.length === 0) return undefined;
  const bound = parameters.map((parameter) => [parameter.key, boundValue(parameter, typed(parameter.key))] as const);
  if (!bound.every(([key]) => /^\d+$/.test(key))) return Object.fromEntries(bound);
  const values: unknown[] = [];
  for (const [key, value] of bound) values[Number(key) - 1] = value;
  return Array.from(values, (value) => value ?? null);
}

function boundValue(parameter: StatementParameter, { type, text }: ParameterValue): unknown {
  const trimmed = text.trim();
  if (trimmed === '' && type !== 'text' && type !== 'null') throw new WrongValue(parameter, 'has no value');
  switch (type) {
    case 'auto':
      if (jsonNumber.test(trimmed)) return numberOf(trimmed);
      return /^(?:true|false)$/i.test(trimmed) ? trimmed.toLowerCase() === 'true' : text;
    case 'text':
      return text;
    case 'number':
      if (notFinite.test(trimmed)) return { type: 'DOUBLE', value: trimmed };
      if (!jsonNumber.test(trimmed)) throw new WrongValue(parameter, `is no number: ${trimmed}`);
      return numberOf(trimmed);
    case 'boolean':
      if (!/^(?:true|false)$/i.test(trimmed)) throw new WrongValue(parameter, 'is neither true nor false');
      return trimmed.toLowerCase() === 'true';
    case 'date':
      return { type: 'DATE', value: trimmed };
    case 'timestamp':
      return { type: 'TIMESTAMP', value: trimmed };
    case 'json':
      try {
        return parseExactJson(trimmed);
      } catch {
        throw new WrongValue(parameter, 'is not JSON, such as [1, 2] or {"type":"UUID","value":"…"}');
      }
    case 'null':
      return null;
    default:
      return type satisfies never;
  }
}

/** With all digits. */
function numberOf(text: string): unknown {
  const value = Number(text);
  return !/^-?\d+$/.test(text) || Number.isSafeInteger(value) ? value : { type: 'HUGEINT', value: text };
}

export function valuesIn(given: unknown): ParameterValues {
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, ParameterValue] => isValue(entry[1])),
  );
}

function isValue(given: unknown): given is ParameterValue {
  const value = given as Partial<Record<keyof ParameterValue, unknown>> | null;
  return typeof value?.text === 'string' && typeof value.type === 'string' && Object.hasOwn(parameterTypes, value.type);
}
