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

const mostDigits = 38;

/** Whether DECIMAL(precision, scale) is valid: 1 to 38 digits. */
export function isDecimalSize({ precision, scale }: { readonly precision: number; readonly scale: number }): boolean {
  return precision >= 1 && precision <= mostDigits && scale >= 0 && scale <= precision;
}
