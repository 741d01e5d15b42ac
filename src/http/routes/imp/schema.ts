import type { DataType } from '@framehold/columns';
import { AppError } from '../../../core/errors/app-error.ts';
import type { TextType } from '../../../core/rows/frame-engine.ts';
import { checkKeys, isJsonObject } from '../../../encoding/json/json-object.ts';
import { type JsonValue, parseJson } from '../../../encoding/json/json-text.ts';
import { type ColumnText, columnsOfText, invalidSchema } from './schema-text.ts';
import { hasTimeOfDay, timeFormatOf } from './time-pattern.ts';
import { parseTypeName } from './type-name.ts';

export type TypesByColumn = ReadonlyMap<string, TextType>;

/** QuestDB's keys. The last two say nothing that is not so anyway. */
const keys = ['name', 'type', 'pattern', 'locale', 'utf8'];

/** Types by column: QuestDB's JSON array of `{name, type, pattern?}`, or `name TYPE, "other name" TYPE 'pattern'`. */
export function parseSchema(text: string): TypesByColumn {
  const types = new Map<string, TextType>();
  for (const column of /^\s*[[{]/.test(text) ? columnsOfJson(text) : columnsOfText(text)) {
    if (types.has(column.name))
      throw invalidSchema(`column ${JSON.stringify(column.name.slice(0, 100))} is given twice`);
    types.set(column.name, textType(column));
  }
  if (types.size === 0) throw invalidSchema('it names no column');
  return types;
}

function textType({ name, type: typeText, pattern }: ColumnText): TextType {
  const type = parseTypeName(typeText);
  if (pattern === undefined || pattern === '') return { type };
  if (!['date', 'time', 'timestamp'].includes(type.kind)) {
    throw invalidSchema(`column ${JSON.stringify(name.slice(0, 100))} has a pattern, which only dates and times have`);
  }
  const timeFormat = timeFormatOf(pattern);
  return { type: withTimeOfDay(type, timeFormat, pattern), ...(timeFormat !== undefined && { timeFormat }) };
}

/** QuestDB's DATE has milliseconds; a date of ours is a day, and would lose the time that the pattern reads. */
function withTimeOfDay(type: DataType, timeFormat: string | undefined, pattern: string): DataType {
  const isTimed = timeFormat === undefined ? pattern.includes('HH') : hasTimeOfDay(timeFormat);
  return type.kind === 'date' && isTimed ? { kind: 'timestamp', unit: 'ms', zoned: false } : type;
}

function columnsOfJson(text: string): readonly ColumnText[] {
  const columns = json(text);
  if (!Array.isArray(columns)) throw invalidSchema('it is not an array');
  return columns.map((column: JsonValue, index) => {
    if (!isJsonObject(column)) throw invalidSchema(`item ${index + 1} is not an object`);
    checkKeys(column, keys, `item ${index + 1} of schema`);
    const name = textOf(column.get('name'), index, 'name');
    const type = textOf(column.get('type'), index, 'type');
    const pattern = column.has('pattern') ? textOf(column.get('pattern'), index, 'pattern') : undefined;
    return { name, type, pattern };
  });
}

function textOf(value: JsonValue | undefined, index: number, key: string): string {
  if (typeof value === 'string') return value;
  throw invalidSchema(`item ${index + 1} has no ${key}`);
}

function json(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    const why = error instanceof AppError ? error.message.replace(/^the body/, 'it') : String(error);
    throw invalidSchema(why);
  }
}
