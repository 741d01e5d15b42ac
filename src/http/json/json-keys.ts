import type { JsonValue } from '../../encoding/json/json-text.ts';
import type { JsonSchema, Parameter } from '../exchange/parameters.ts';
import { wrongType } from './json-body.ts';

/** One key of a JSON body: its accepted values, and its parser. */
export interface JsonKey<Value> {
  readonly schema: JsonSchema;
  /** `undefined`: it was not given, or null. Throws an AppError that names the key. */
  parse(value: JsonValue | undefined, key: string): Value;
}

export type JsonKeys = Readonly<Record<string, JsonKey<unknown>>>;

export type KeyValues<Keys extends JsonKeys> = {
  readonly [Key in keyof Keys]: Keys[Key] extends JsonKey<infer Value> ? Value : never;
};

export function readKeys<Keys extends JsonKeys>(
  keys: Keys,
  object: ReadonlyMap<string, JsonValue>,
  path = '',
): KeyValues<Keys> {
  const values = Object.entries(keys).map(([key, { parse }]) => [key, parse(object.get(key) ?? undefined, path + key)]);
  return Object.fromEntries(values) as KeyValues<Keys>;
}

/** The schema of an object with these keys and no others. */
export function objectSchema(keys: JsonKeys, required: readonly string[], more: JsonSchema = {}): JsonSchema {
  const properties = Object.fromEntries(Object.entries(keys).map(([key, { schema }]) => [key, schema]));
  return { type: 'object', properties, required, additionalProperties: false, ...more };
}

const accepted = { boolean: 'true or false', integer: 'a whole number', string: 'text' } as const;

/** A parameter of a query string under the same name in a body, in JSON's own type for it. */
export function likeParameter<Value>(parameter: Parameter<Value>): JsonKey<Value> {
  const { description, schema } = parameter;
  const type = schema.type as keyof typeof accepted;
  return {
    schema: { ...schema, description },
    parse(value, key) {
      if (value === undefined || value === null) return parameter.parse(undefined, key);
      const isRight = type === 'integer' ? Number.isSafeInteger(value) : typeof value === type;
      if (!isRight) throw wrongType(key, value, accepted[type]);
      return parameter.parse(String(value), key);
    },
  };
}

export function textKey(description: string): JsonKey<string | undefined> {
  return likeParameter({ description, schema: { type: 'string' }, parse: (value) => value });
}
