import { isTextField, type ReceivedField, readSmallStream } from '@framehold/arrow-ipc';
import { type DataType, isDecimalSize, parseSqlType, sqlTypeName, type TimeUnit } from '@framehold/columns';
import {
  arrayOf,
  type BoundArguments,
  emptyType,
  type LiteralValue,
  literal,
  nullLiteral,
  SparkType,
  type SparkTypeValue,
} from '@framehold/spark-connect';
import { AppError } from '../../core/errors/app-error.ts';
import type { Query, SqlRun } from '../../core/sql/sql.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { valueOfText, wholeMicroseconds } from './text-values.ts';

const noArguments: BoundArguments = { named: new Map(), positional: [] };

/** Values for each execution of a query: typed literals, so that no text of theirs is ever parsed as SQL. */
export async function argumentsOf({
  query,
  parameters,
  settings,
}: Pick<SqlRun, 'query' | 'parameters' | 'settings'>): Promise<BoundArguments[]> {
  if (parameters === undefined) return [noArguments];
  const { fields, types, rows } = await readSmallStream(parameters);
  if (settings?.TimeZone !== undefined) refuseInstants(fields, types);
  const order = columnOrder(fields, query);
  const names = query.parameterNames ?? [];
  return rows.map((row) => {
    const literals = order.map((column) =>
      literalOf(fields[column] as ReceivedField, types[column] as DataType, row[column]),
    );
    if (names.length === 0) return { named: new Map(), positional: literals };
    return { named: new Map(names.map((name, index) => [name, literals[index] ?? nullLiteral])), positional: [] };
  });
}

/** In place of values that are not known yet. */
export function unboundArguments({ parameterCount, parameterNames = [] }: Query): BoundArguments {
  if (parameterNames.length === 0) {
    return { named: new Map(), positional: new Array<LiteralValue>(parameterCount).fill(nullLiteral) };
  }
  return { named: new Map(parameterNames.map((name) => [name, nullLiteral])), positional: [] };
}

/** Which column each parameter has: by its name, where both sides have names. */
function columnOrder(fields: readonly ReceivedField[], { parameterCount, parameterNames = [] }: Query): number[] {
  const given = fields.map(({ name }) => name);
  const isByName = parameterNames.length > 0 && given.some((name) => !/^\d*$/.test(name));
  if (!isByName) {
    if (parameterCount === given.length) return given.map((_, index) => index);
    throw new AppError(
      'invalid_parameter',
      `the statement has ${parameterCount} parameters, but ${given.length} values are bound`,
    );
  }
  const strange = given.find((name) => !parameterNames.some(isAlike(name)));
  if (strange !== undefined) {
    const message = `the statement has no parameter ${strange}${didYouMean(strange, parameterNames)}`;
    throw new AppError('invalid_parameter', message, { hint: `it has ${parameterNames.join(', ')}` });
  }
  return parameterNames.map((name) => {
    const index = given.findIndex(isAlike(name));
    if (index < 0) throw new AppError('missing_parameter', `parameter ${name} has no value`);
    return index;
  });
}

/** Spark writes them as local times: of the two that have the same in autumn it would take the first. */
function refuseInstants(fields: readonly ReceivedField[], types: readonly DataType[]): void {
  const column = fields.findIndex((field, at) => isInstant(typeMeant(field) ?? (types[at] as DataType)));
  if (column < 0) return;
  const shown = fields[column]?.name ?? '';
  throw new AppError('invalid_parameter', `parameter ${shown} is a point in time, and TimeZone is set`, {
    hint: 'bind it as text with its offset, and cast it: CAST(? AS TIMESTAMP)',
  });
}

function isInstant(type: DataType): boolean {
  if (type.kind === 'list' || type.kind === 'array') return isInstant(type.element);
  return type.kind === 'timestamp' && type.zoned;
}

/** That the value is a text of. */
function typeMeant(field: ReceivedField): DataType | undefined {
  if (field.sqlType === undefined || !isTextField(field)) return undefined;
  return parseSqlType(field.sqlType);
}

function isAlike(a: string): (b: string) => boolean {
  return (b) => a.toLowerCase() === b.toLowerCase();
}

function literalOf(field: ReceivedField, type: DataType, value: unknown): LiteralValue {
  const meant = typeMeant(field);
  if (meant !== undefined) return literalOfType(meant, valueOfText(field.name, meant, value), field.name);
  return literalOfType(type, scaled(type, value), field.name);
}

const nanoseconds: Readonly<Record<TimeUnit, bigint>> = { s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n };

/** Counts of time in the unit of the literal: microseconds for a timestamp, nanoseconds for a time; lists by element. */
function scaled(type: DataType, value: unknown): unknown {
  if (value === null) return null;
  switch (type.kind) {
    case 'time':
      return (value as bigint) * nanoseconds[type.unit];
    case 'timestamp':
      return wholeMicroseconds((value as bigint) * nanoseconds[type.unit]);
    case 'list':
    case 'array':
      return (value as unknown[]).map((each) => scaled(type.element, each));
    default:
      return value;
  }
}

function literalOfType(type: DataType, value: unknown, name: string): LiteralValue {
  if (value === null) return typedNull(type, name);
  switch (type.kind) {
    case 'null':
      return nullLiteral;
    case 'boolean':
      return literal({ boolean: value as boolean });
    case 'int':
      return integerLiteral(type, value as bigint);
    case 'float':
      return type.bits === 32 ? literal({ float: value as number }) : literal({ double: value as number });
    case 'decimal':
      if (!isDecimalSize(type)) throw unsupported(name, type);
      return decimalLiteral(value as bigint, type.precision, type.scale);
    case 'utf8':
    case 'json':
    case 'uuid':
      return literal({ string: value as string });
    case 'binary':
      return literal({ binary: value as Uint8Array });
    case 'date':
      if (isInCalendarGap(value as bigint, 0n)) throw unsupported(name, type);
      return literal({ date: Number(value as bigint) });
    case 'time':
      return literal({ time: { nano: value as bigint, precision: 6 } });
    case 'timestamp':
      if (!type.zoned) return literal({ timestampNtz: value as bigint });
      // A day more on either side, as the zone of the cluster moves them.
      if (isInCalendarGap((value as bigint) / dayMicros, 1n)) throw unsupported(name, type);
      return literal({ timestamp: value as bigint });
    case 'interval': {
      const [months, days, nanos] = value as readonly [number, number, bigint];
      return literal({ calendarInterval: { months, days, microseconds: nanos / 1000n } });
    }
    case 'list':
    case 'array': {
      const { element } = type;
      return arrayOf(
        sparkTypeOf(element, name),
        (value as unknown[]).map((each) => literalOfType(element, each, name)),
      );
    }
    default:
      throw unsupported(name, type);
  }
}

/** Sail takes no NULL of a type that has types inside. */
const untyped: ReadonlySet<DataType['kind']> = new Set(['null', 'list', 'array', 'struct', 'map', 'union']);

function typedNull(type: DataType, name: string): LiteralValue {
  return untyped.has(type.kind) ? nullLiteral : literal({ null: sparkTypeOf(type, name) });
}

function integerLiteral({ bits, signed }: Extract<DataType, { kind: 'int' }>, value: bigint): LiteralValue {
  const needed = signed ? bits : bits * 2;
  if (needed === 8) return literal({ byte: Number(value) });
  if (needed === 16) return literal({ short: Number(value) });
  if (needed === 32) return literal({ integer: Number(value) });
  if (needed === 64) return literal({ long: value });
  return decimalLiteral(value, bits === 64 ? 20 : 38, 0);
}

function decimalLiteral(unscaled: bigint, precision: number, scale: number): LiteralValue {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const at = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`;
  return literal({ decimal: { value: unscaled < 0n ? `-${text}` : text, precision, scale } });
}

function sparkTypeOf(type: DataType, name: string): SparkTypeValue {
  const of = (fields: Partial<SparkTypeValue>): SparkTypeValue => ({ ...emptyType, ...fields });
  switch (type.kind) {
    case 'null':
      return of({ null: {} });
    case 'boolean':
      return of({ boolean: {} });
    case 'int': {
      const needed = type.signed ? type.bits : type.bits * 2;
      if (needed === 8) return of({ byte: {} });
      if (needed === 16) return of({ short: {} });
      if (needed === 32) return of({ integer: {} });
      if (needed === 64) return of({ long: {} });
      return of({ decimal: { precision: type.bits === 64 ? 20 : 38, scale: 0 } });
    }
    case 'float':
      return of(type.bits === 32 ? { float: {} } : { double: {} });
    case 'decimal':
      return of({ decimal: { precision: type.precision, scale: type.scale } });
    case 'utf8':
    case 'json':
    case 'uuid':
      return of({ string: {} });
    case 'binary':
      return of({ binary: {} });
    case 'date':
      return of({ date: {} });
    case 'time':
      return of({ time: {} });
    case 'timestamp':
      return of(type.zoned ? { timestamp: {} } : { timestampNtz: {} });
    case 'interval':
      return of({ calendarInterval: {} });
    case 'list':
    case 'array':
      return of({ array: { elementType: SparkType.encode(sparkTypeOf(type.element, name)), containsNull: true } });
    default:
      throw unsupported(name, type);
  }
}

const dayMicros = 86_400_000_000n;

/** The days from 1582-10-05 to 1582-10-14: Spark moves them behind the gap in Java's calendar. */
function isInCalendarGap(day: bigint, margin: bigint): boolean {
  return day >= -141_437n - margin && day <= -141_428n + margin;
}

function unsupported(name: string, type: DataType): AppError {
  return new AppError(
    'unsupported_type',
    `parameter ${name} has type ${sqlTypeName(type)}, which this engine cannot take`,
    {
      hint: 'write the value into the statement',
    },
  );
}
