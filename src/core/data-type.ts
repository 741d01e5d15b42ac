export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

/** The type of a column, as every engine and every encoding of ours understands it. */
export type DataType =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'int'; readonly bits: 8 | 16 | 32 | 64 | 128; readonly signed: boolean }
  | { readonly kind: 'float'; readonly bits: 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'utf8' }
  | { readonly kind: 'json' }
  | { readonly kind: 'uuid' }
  | { readonly kind: 'binary' }
  | { readonly kind: 'date' }
  | { readonly kind: 'time'; readonly unit: 'us' | 'ns' }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit; readonly zoned: boolean }
  | { readonly kind: 'interval' }
  | { readonly kind: 'list'; readonly element: DataType }
  | { readonly kind: 'array'; readonly element: DataType; readonly size: number }
  | { readonly kind: 'struct'; readonly fields: readonly Column[] }
  | { readonly kind: 'map'; readonly key: DataType; readonly value: DataType }
  | { readonly kind: 'union'; readonly members: readonly Column[] };

export interface Column {
  /** Exactly as the writer spelled it; names may repeat. */
  readonly name: string;
  readonly type: DataType;
}

/** A type that SQL can declare a column with. Frames keep some as others: `isKeptAsOther`. */
export type DeclaredType =
  | Exclude<DataType, { readonly kind: 'list' | 'array' | 'struct' | 'map' | 'union' }>
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'bit' | 'bignum' | 'variant' | 'geometry' }
  /** A time of day with its offset from UTC. */
  | { readonly kind: 'zonedTime' }
  | { readonly kind: 'list'; readonly element: DeclaredType }
  | { readonly kind: 'array'; readonly element: DeclaredType; readonly size: number }
  | { readonly kind: 'struct'; readonly fields: readonly DeclaredField[] }
  | { readonly kind: 'map'; readonly key: DeclaredType; readonly value: DeclaredType }
  | { readonly kind: 'union'; readonly members: readonly DeclaredField[] };

export interface DeclaredField {
  readonly name: string;
  readonly type: DeclaredType;
}

/** Whether a frame has another type for such a column, which takes other values. */
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

/** Whether SQL reads the column as it was declared. Times of seconds mean the same as they are kept. */
export function isReadAsDeclared(type: DeclaredType): boolean {
  if (type.kind === 'timestamp' || !isKeptAsOther(type)) return false;
  // A union that is a whole column is kept as JSON, and one inside another type as a struct.
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

/** What a frame keeps a column of the type as. */
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
      return type.bits === 128 ? { kind: 'decimal', precision: mostDigits, scale: 0 } : type;
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
      // Before its members: the number of the one that is set.
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

export function innerTypes(type: DeclaredType): readonly DeclaredType[] {
  switch (type.kind) {
    case 'list':
    case 'array':
      return [type.element];
    case 'map':
      return [type.key, type.value];
    case 'struct':
      return type.fields.map((field) => field.type);
    default:
      return [];
  }
}

const mostDigits = 38;

/** Whether DECIMAL(precision, scale) is valid: 1 to 38 digits. */
export function isDecimalSize({ precision, scale }: { readonly precision: number; readonly scale: number }): boolean {
  return precision >= 1 && precision <= mostDigits && scale >= 0 && scale <= precision;
}
