import type { TimeUnit } from '../../../core/data-type.ts';

/** The Arrow types that we write. */
export type ArrowType =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool' }
  | { readonly kind: 'int'; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: 'float'; readonly bits: 32 | 64 }
  | { readonly kind: 'decimal128'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'utf8' }
  | { readonly kind: 'binary' }
  | { readonly kind: 'fixedBinary'; readonly width: number }
  | { readonly kind: 'date32' }
  /** Only in schemas: JDBC sets parameters of time in milliseconds. */
  | { readonly kind: 'time32' }
  | { readonly kind: 'time64'; readonly unit: 'us' | 'ns' }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit; readonly zone: string | undefined }
  | { readonly kind: 'monthDayNano' }
  /** One child. */
  | { readonly kind: 'list' }
  /** One child. */
  | { readonly kind: 'fixedList'; readonly size: number }
  | { readonly kind: 'struct' }
  /** One child: a struct of key and value. */
  | { readonly kind: 'map' }
  /** A type id for each child. */
  | { readonly kind: 'union'; readonly mode: 'sparse' | 'dense'; readonly typeIds: readonly number[] };

export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
  readonly nullable: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly children: readonly ArrowField[];
}

export interface ArrowFieldOptions {
  /** Default true. */
  readonly nullable?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly children?: readonly ArrowField[];
}

export function arrowField(name: string, type: ArrowType, options: ArrowFieldOptions = {}): ArrowField {
  return { name, type, nullable: true, children: [], ...options };
}
