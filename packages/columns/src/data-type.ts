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

/** A type that SQL can declare a column with. */
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

export const mostDecimalDigits = 38;

/** Whether DECIMAL(precision, scale) is valid: 1 to 38 digits. */
export function isDecimalSize({ precision, scale }: { readonly precision: number; readonly scale: number }): boolean {
  return precision >= 1 && precision <= mostDecimalDigits && scale >= 0 && scale <= precision;
}
