import { type DeclaredType, sqlName, sqlString } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { FieldChange, TableName } from '../../core/sql/sql.ts';
import { asciiLower, isSameName } from '../../core/text/ascii-lower.ts';
import { didYouMeanName } from '../../core/text/did-you-mean.ts';

/** A column with a changed field. */
interface ChangedColumn {
  readonly name: string;
  readonly type: DeclaredType;
  readonly table: TableName;
  /** Names of all columns of the table. */
  readonly names: readonly string[];
}

export interface ChangedField {
  readonly sql: string;
  /** The declared type, for a query's type `given`. */
  readonly typeIn: (given: DeclaredType) => DeclaredType;
}

interface Place<T extends DeclaredType = DeclaredType> {
  /** In messages. */
  readonly name: string;
  readonly type: T;
  readonly sql: string;
}

interface Steps {
  readonly path: readonly string[];
  readonly action: FieldChange['action'];
  /** The text of an added field's value. */
  readonly added: string;
}

type OfKind<K extends DeclaredType['kind']> = Extract<DeclaredType, { readonly kind: K }>;
type NewField = ChangedField & { readonly name: string };

/** The query that gives the table with the change. Undefined: IF [NOT] EXISTS leaves nothing to do. */
export function changedField(change: FieldChange, column: ChangedColumn): ChangedField | undefined {
  const { name, type, names, table } = column;
  const { path, action } = change;
  let given = 'the new value';
  while (names.some((each) => isSameName(each, given))) given += '_';
  const added = sqlName(given);
  const changed = inside({ name, type, sql: sqlName(name) }, { path, action, added });
  if (changed === undefined) return undefined;
  const parts = [table.catalog, table.schema, table.name].filter((part) => part !== undefined);
  const source = parts.map(sqlName).join('.');
  const value = `REPLACE (${changed.sql} AS ${sqlName(name)})`;
  if (action.verb !== 'add') return { ...changed, sql: `SELECT * ${value} FROM ${source}` };
  const rows = `(SELECT *, ${action.sql} AS ${added} FROM ${source})`;
  return { ...changed, sql: `SELECT * EXCLUDE (${added}) ${value} FROM ${rows}` };
}

function inside({ type, ...place }: Place, steps: Steps): ChangedField | undefined {
  if (type.kind === 'struct') return insideStruct({ ...place, type }, steps);
  if (type.kind === 'list') return insideList({ ...place, type }, steps);
  if (type.kind === 'map') return insideMap({ ...place, type }, steps);
  throw new AppError('sql_error', `${place.name} is not a nested type: it has no fields`, {
    hint: 'a field is column.field; in a list of structs it is column.element.field, in a map column.value.field',
  });
}

function insideStruct(place: Place<OfKind<'struct'>>, steps: Steps): ChangedField | undefined {
  const { name, type, sql } = place;
  const { path, action, added } = steps;
  const [step = '', ...rest] = path;
  const names = type.fields.map((field) => field.name);
  if (names.includes('') || new Set(names.map(asciiLower)).size < names.length)
    throw new AppError('sql_error', `SQL cannot name each field of ${name}`);
  const fields = type.fields.map((field): NewField => {
    const extracted = `struct_extract(${sql}, ${sqlString(field.name)})`;
    return { name: field.name, sql: extracted, typeIn: () => field.type };
  });
  const at = names.findIndex((each) => isSameName(each, step));
  const [field, found] = [fields[at], type.fields[at]];
  const isLast = rest.length === 0;
  if (field === undefined || found === undefined) {
    if (isLast && action.verb === 'add')
      return packed(sql, [...fields, { name: step, sql: added, typeIn: (given) => given }]);
    if (action.verb === 'drop' && action.ifAbsent === 'ignore') return undefined;
    const message = `field ${JSON.stringify(step)} not found in ${name}`;
    throw new AppError('sql_error', `${message}${didYouMeanName(step, names)}`);
  }
  if (!isLast) {
    const changed = inside(
      { name: `${name}.${found.name}`, type: found.type, sql: field.sql },
      { ...steps, path: rest },
    );
    return changed && packed(sql, fields.with(at, { ...changed, name: found.name }));
  }
  switch (action.verb) {
    case 'add':
      if (action.ifTaken === 'keep') return undefined;
      throw fieldExists(found.name, name);
    case 'drop':
      if (fields.length > 1) return packed(sql, fields.toSpliced(at, 1));
      throw new AppError('sql_error', `${found.name} is the only field of ${name}`, {
        hint: 'a struct has at least one field; DROP COLUMN drops the column',
      });
    case 'rename': {
      const taken = names.find((each) => each !== found.name && isSameName(each, action.to));
      if (taken !== undefined) throw fieldExists(taken, name);
      return packed(sql, fields.with(at, { ...field, name: action.to }));
    }
    default:
      return action satisfies never;
  }
}

function insideList({ name, type, sql }: Place<OfKind<'list'>>, steps: Steps): ChangedField | undefined {
  const path = pathBehind(steps, name, ['element']).rest;
  const changed = insideElements({ name: `${name}.element`, type: type.element, sql }, { ...steps, path });
  const typeIn = (given: DeclaredType): DeclaredType =>
    changed && given.kind === 'list' ? { ...type, element: changed.typeIn(given.element) } : type;
  return changed && { ...changed, typeIn };
}

function insideMap({ name, type, sql }: Place<OfKind<'map'>>, steps: Steps): ChangedField | undefined {
  const { part, rest } = pathBehind<'key' | 'value'>(steps, name, ['key', 'value']);
  const isKey = part === 'key';
  const [keys, values] = [`map_keys(${sql})`, `map_values(${sql})`];
  const place = { name: `${name}.${part}`, type: type[part], sql: isKey ? keys : values };
  const changed = insideElements(place, { ...steps, path: rest });
  if (changed === undefined) return undefined;
  const typeIn = (given: DeclaredType): DeclaredType => {
    if (given.kind !== 'map') return type;
    const inner = changed.typeIn(given[part]);
    return isKey ? { ...type, key: inner } : { ...type, value: inner };
  };
  const lists = isKey ? [changed.sql, values] : [keys, changed.sql];
  return { sql: unlessNull(sql, `map(${lists.join(', ')})`), typeIn };
}

/** For a list of values of the type. */
function insideElements({ name, type, sql }: Place, steps: Steps): ChangedField | undefined {
  const element = sqlName(name);
  const changed = inside({ name, type, sql: element }, steps);
  return changed && { ...changed, sql: `list_transform(${sql}, lambda ${element}: ${changed.sql})` };
}

function pathBehind<P extends string>(
  { path: [step = '', ...rest] }: Steps,
  name: string,
  parts: readonly P[],
): { readonly part: P; readonly rest: readonly string[] } {
  const part = parts.find((each) => isSameName(each, step));
  if (part !== undefined && rest.length > 0) return { part, rest };
  const fields = parts.map((each) => `${name}.${each}.field`).join(' or ');
  throw new AppError('sql_error', `${name}.${step} is no field of a struct`, {
    hint: `fields of structs are added, dropped and renamed: write ${fields}`,
  });
}

/** A struct of these fields. */
function packed(before: string, fields: readonly NewField[]): ChangedField {
  const values = fields.map(({ name, sql }) => `${sqlName(name)} := ${sql}`);
  const typeIn = (given: DeclaredType): DeclaredType => {
    const types = given.kind === 'struct' ? given.fields.map((field) => field.type) : [];
    const typed = fields.map((field, index) => ({ name: field.name, type: field.typeIn(types[index] ?? nothing) }));
    return { kind: 'struct', fields: typed };
  };
  return { sql: unlessNull(before, `struct_pack(${values.join(', ')})`), typeIn };
}

const nothing = { kind: 'null' } as const;

/** Item 0 of a list is NULL. CASE takes no struct with an array inside. */
function unlessNull(before: string, value: string): string {
  return `list_extract([${value}], CAST(${before} IS NOT NULL AS INTEGER))`;
}

function fieldExists(field: string, name: string): AppError {
  return new AppError('sql_error', `field ${JSON.stringify(field)} is in ${name} already`);
}
