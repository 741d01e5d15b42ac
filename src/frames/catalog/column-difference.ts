import { isDeepStrictEqual } from 'node:util';
import { type Column, type DataType, sqlTypeName } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { Handle } from '../../core/names/handle.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';

/** Rejects rows whose columns differ from the frame's. */
export function assertSameColumns(handle: Handle, held: readonly Column[], brought: readonly Column[]): void {
  const difference = columnDifference(held, brought);
  if (difference === undefined) return;
  throw new AppError('schema_mismatch', `these rows do not fit ${handle}: ${difference}`, {
    hint: 'an append brings the same columns in the same order with the same types, or numbers that wider types hold exactly; overwrite replaces the frame',
  });
}

/** Rejects rows that do not begin with all columns of the frame, or whose further columns SQL cannot distinguish from these. */
export function assertWidens(handle: Handle, held: readonly Column[], brought: readonly Column[]): void {
  assertSameColumns(handle, held, brought.slice(0, Math.max(held.length, 1)));
  const names = new Set(held.map(({ name }) => asciiLower(name)));
  for (const { name } of brought.slice(held.length)) {
    if (name !== '' && !names.has(asciiLower(name))) names.add(asciiLower(name));
    else {
      throw new AppError(
        'schema_mismatch',
        `these rows do not fit ${handle}: column ${JSON.stringify(name)} cannot be added`,
        {
          hint: 'a column that is added needs a name that no other column has, in any case',
        },
      );
    }
  }
}

/** Says in words how two lists of columns differ; undefined when they are equal. */
export function columnDifference(held: readonly Column[], brought: readonly Column[]): string | undefined {
  for (const [index, column] of held.entries()) {
    const other = brought[index];
    const name = JSON.stringify(column.name);
    if (other === undefined) return `column ${name} is missing`;
    if (other.name !== column.name) {
      return `column ${index + 1} is ${name} in the frame and ${JSON.stringify(other.name)} here`;
    }
    if (!isDeepStrictEqual(other.type, column.type)) {
      return `column ${name} is ${typeName(column.type)} in the frame and ${typeName(other.type)} here`;
    }
  }
  const extra = brought[held.length];
  return extra === undefined ? undefined : `column ${JSON.stringify(extra.name)} is not in the frame`;
}

/** Says in words of SQL which of the same columns has another type now; undefined when none has. */
export function typeChange(before: readonly Column[], now: readonly Column[]): string | undefined {
  for (const [index, { name, type }] of before.entries()) {
    const other = now[index];
    if (other === undefined || isDeepStrictEqual(type, other.type)) continue;
    return `column ${JSON.stringify(name)} was ${sqlTypeName(type)} and is ${sqlTypeName(other.type)} now`;
  }
  return undefined;
}

function typeName(type: DataType): string {
  switch (type.kind) {
    case 'int':
      return `${type.signed ? 'int' : 'uint'}${type.bits}`;
    case 'float':
      return `float${type.bits}`;
    case 'decimal':
      return `decimal(${type.precision},${type.scale})`;
    case 'time':
      return `time(${type.unit})`;
    case 'timestamp':
      return `timestamp(${type.unit}${type.zoned ? ', zoned' : ''})`;
    case 'list':
      return `list(${typeName(type.element)})`;
    case 'array':
      return `array(${typeName(type.element)}, ${type.size})`;
    case 'struct':
      return `struct(${fieldNames(type.fields)})`;
    case 'union':
      return `union(${fieldNames(type.members)})`;
    case 'map':
      return `map(${typeName(type.key)}, ${typeName(type.value)})`;
    case 'null':
    case 'boolean':
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary':
    case 'date':
    case 'interval':
      return type.kind;
    default:
      return type satisfies never;
  }
}

function fieldNames(fields: readonly Column[]): string {
  return fields.map((field) => `${field.name} ${typeName(field.type)}`).join(', ');
}
