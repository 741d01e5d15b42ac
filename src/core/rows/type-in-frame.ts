import { type DataType, type DeclaredType, innerTypes, mostDecimalDigits } from '@framehold/columns';

/** Whether a frame has another type for such a column, which accepts other values. */
export function isKeptAsOther(type: DeclaredType): boolean {
  switch (type.kind) {
    case 'enum':
    case 'bit':
    case 'bignum':
    case 'variant':
    case 'geometry':
    case 'zonedTime':
    case 'array':
    case 'union':
      return true;
    case 'int':
      return type.bits === 128;
    case 'timestamp':
      return type.unit === 's' || type.unit === 'ms';
    default:
      return innerTypes(type).some(isKeptAsOther);
  }
}

/** Whether the frame's type takes values that the declared one does not. */
export function takesOtherValues(type: DeclaredType): boolean {
  const isOwn =
    ['enum', 'bit', 'bignum', 'variant', 'geometry', 'array', 'union'].includes(type.kind) ||
    (type.kind === 'int' && !type.signed);
  return isKeptAsOther(type) && (isOwn || innerTypes(type).some(takesOtherValues));
}

/** Whether SQL reads the column as declared. Times in seconds keep their meaning in the stored unit. */
export function isReadAsDeclared(type: DeclaredType): boolean {
  if (type.kind === 'timestamp' || !isKeptAsOther(type)) return false;
  // A union that is a whole column is stored as JSON, and one inside another type as a struct.
  return type.kind !== 'union' || type.members.every((member) => isWholeInJson(member.type));
}

/** Whether DuckDB reads each value of the type as it wrote it as JSON. It reads numbers with a point as doubles. */
function isWholeInJson(type: DeclaredType): boolean {
  switch (type.kind) {
    case 'null':
    case 'binary':
    case 'json':
    case 'bit':
    case 'bignum':
    case 'variant':
    case 'geometry':
      return false;
    case 'decimal':
      return type.precision <= mostDigitsOfDouble;
    case 'union':
      return type.members.every((member) => isWholeInJson(member.type));
    default:
      return innerTypes(type).every(isWholeInJson);
  }
}

const mostDigitsOfDouble = 15;

/** The type in which a frame stores a column. */
export function typeInFrame(type: DataType): DataType {
  return type.kind === 'union' ? { kind: 'json' } : innerTypeInFrame(type);
}

function innerTypeInFrame(type: DataType): DataType {
  const ofField = ({ name, type: of }: { readonly name: string; readonly type: DataType }) => ({
    name,
    type: innerTypeInFrame(of),
  });
  switch (type.kind) {
    case 'int':
      return type.bits === 128 ? { kind: 'decimal', precision: mostDecimalDigits, scale: 0 } : type;
    case 'timestamp':
      return type.unit === 's' || type.unit === 'ms' ? { ...type, unit: 'us' } : type;
    case 'list':
    case 'array':
      return { kind: 'list', element: innerTypeInFrame(type.element) };
    case 'map':
      return { kind: 'map', key: innerTypeInFrame(type.key), value: innerTypeInFrame(type.value) };
    case 'struct':
      return { kind: 'struct', fields: type.fields.map(ofField) };
    case 'union':
      // Before its members: the number of the one with a value.
      return { kind: 'struct', fields: [unionTag, ...type.members.map(ofField)] };
    default:
      return type;
  }
}

const unionTag = { name: '', type: { kind: 'int', bits: 8, signed: false } } as const;

/** SQL has no name for a struct with a field that has none. */
export function hasUnnamedField(type: DeclaredType): boolean {
  return (
    (type.kind === 'struct' && type.fields.some(({ name }) => name === '')) || innerTypes(type).some(hasUnnamedField)
  );
}
