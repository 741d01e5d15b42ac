import { type DeclaredField, type DeclaredType, sqlName, sqlString, sqlTypeName } from '@framehold/columns';

/** DuckDB writes a BIGNUM as text in a time that grows with the square of its digits: this many take a fraction of a second. */
const mostDigits = 24_000;
const mostHexDigits = Math.floor((mostDigits * Math.log(10)) / Math.log(16));
const tooManyDigits = `a BIGNUM of more than ${mostDigits.toLocaleString('en-US')} digits would take too long to write`;

/** SQL that gives a value with types of our vocabulary; undefined where the value has them. Times with an offset are those in UTC. */
export function readableValue(value: string, type: DeclaredType, depth = 0): string | undefined {
  const inner = (part: string, of: DeclaredType): string => readableValue(part, of, depth + 1) ?? part;
  if (isReadable(type)) return undefined;
  switch (type.kind) {
    case 'bit':
    case 'geometry':
      return `CAST(${value} AS VARCHAR)`;
    case 'bignum':
      return `CASE WHEN length(hex(${value})) > ${mostHexDigits} THEN error(${sqlString(tooManyDigits)}) ELSE CAST(${value} AS VARCHAR) END`;
    case 'variant':
      return `CAST(${value} AS JSON)`;
    case 'zonedTime':
      // A cast alone would drop the offset.
      return `CAST(timezone('UTC', ${value}) AS TIME)`;
    case 'list':
      return transformed(value, depth, (element) => inner(element, type.element));
    case 'array': {
      const list = `CAST(${value} AS ${sqlTypeName({ kind: 'list', element: type.element })})`;
      const changed = transformed(list, depth, (element) => inner(element, type.element));
      return `CAST(${changed} AS ${sqlTypeName(readableType(type))})`;
    }
    case 'map': {
      const entry = (one: string): string =>
        `struct_pack(k := ${inner(`${one}.key`, type.key)}, v := ${inner(`${one}.value`, type.value)})`;
      return `map_from_entries(${transformed(`map_entries(${value})`, depth, entry)})`;
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type: of }, index) =>
        name === ''
          ? inner(`struct_extract(${value}, ${index + 1})`, of)
          : `${sqlName(name)} := ${inner(`struct_extract(${value}, ${sqlString(name)})`, of)}`,
      );
      const pack = type.fields[0]?.name === '' ? 'row' : 'struct_pack';
      // Item 0 of a list is NULL. CASE takes no struct with an array inside.
      return `list_extract([${pack}(${fields.join(', ')})], CAST(${value} IS NOT NULL AS INTEGER))`;
    }
    case 'union': {
      const whole = sqlTypeName(readableType(type));
      const cases = type.members.map(({ name, type: of }) => {
        const member = inner(`union_extract(${value}, ${sqlString(name)})`, of);
        return `WHEN ${sqlString(name)} THEN CAST(union_value(${sqlName(name)} := ${member}) AS ${whole})`;
      });
      return `CASE CAST(union_tag(${value}) AS VARCHAR) ${cases.join(' ')} END`;
    }
    default:
      return undefined;
  }
}

function transformed(list: string, depth: number, change: (element: string) => string): string {
  const element = `e${depth}`;
  return `list_transform(${list}, lambda ${element}: ${change(element)})`;
}

function isReadable(type: DeclaredType): boolean {
  switch (type.kind) {
    case 'bit':
    case 'bignum':
    case 'variant':
    case 'geometry':
    case 'zonedTime':
      return false;
    case 'list':
    case 'array':
      return isReadable(type.element);
    case 'map':
      return isReadable(type.key) && isReadable(type.value);
    case 'struct':
      return type.fields.every((field) => isReadable(field.type));
    case 'union':
      return type.members.every((member) => isReadable(member.type));
    default:
      return true;
  }
}

function readableType(type: DeclaredType): DeclaredType {
  const ofField = ({ name, type: of }: DeclaredField): DeclaredField => ({ name, type: readableType(of) });
  switch (type.kind) {
    case 'bit':
    case 'bignum':
    case 'geometry':
      return { kind: 'utf8' };
    case 'variant':
      return { kind: 'json' };
    case 'zonedTime':
      return { kind: 'time', unit: 'us' };
    case 'list':
      return { kind: 'list', element: readableType(type.element) };
    case 'array':
      return { ...type, element: readableType(type.element) };
    case 'map':
      return { kind: 'map', key: readableType(type.key), value: readableType(type.value) };
    case 'struct':
      return { kind: 'struct', fields: type.fields.map(ofField) };
    case 'union':
      return { kind: 'union', members: type.members.map(ofField) };
    default:
      return type;
  }
}
