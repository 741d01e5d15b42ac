import { type DeclaredType, sqlName, sqlTypeName } from '@framehold/columns';

/** SQL that gives a value of a frame the type that SQL declared for its column. */
export function declaredValue(value: string, type: DeclaredType): string {
  // One that is the whole column is JSON with its tag, which DuckDB's cast reads.
  const built = type.kind === 'union' ? value : withUnions(value, type, 0);
  return `CAST(${built} AS ${sqlTypeName(type)})`;
}

/** A union inside another type is kept as a struct: the number of the member that is set, then all members. */
function withUnions(value: string, type: DeclaredType, depth: number): string {
  if (!hasUnion(type)) return value;
  const inner = (part: string, of: DeclaredType): string => withUnions(part, of, depth + 1);
  const fieldAt = (index: number): string => `struct_extract_at(${value}, ${index + 1})`;
  const each = (list: string, change: (element: string) => string): string =>
    `list_transform(${list}, lambda d${depth}: ${change(`d${depth}`)})`;
  switch (type.kind) {
    case 'list':
    case 'array':
      return each(value, (element) => inner(element, type.element));
    case 'map': {
      const entry = (one: string): string =>
        `struct_pack(k := ${inner(`${one}.key`, type.key)}, v := ${inner(`${one}.value`, type.value)})`;
      return `map_from_entries(${each(`map_entries(${value})`, entry)})`;
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type: of }, index) => `${sqlName(name)} := ${inner(fieldAt(index), of)}`);
      return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${fields.join(', ')}) END`;
    }
    case 'union': {
      const whole = sqlTypeName(type);
      const cases = type.members.map(({ name, type: of }, index) => {
        const member = `CAST(${inner(fieldAt(index + 1), of)} AS ${sqlTypeName(of)})`;
        return `WHEN ${index} THEN CAST(union_value(${sqlName(name)} := ${member}) AS ${whole})`;
      });
      return `CASE ${fieldAt(0)} ${cases.join(' ')} END`;
    }
    default:
      return value;
  }
}

function hasUnion(type: DeclaredType): boolean {
  switch (type.kind) {
    case 'union':
      return true;
    case 'list':
    case 'array':
      return hasUnion(type.element);
    case 'map':
      return hasUnion(type.key) || hasUnion(type.value);
    case 'struct':
      return type.fields.some((field) => hasUnion(field.type));
    default:
      return false;
  }
}
