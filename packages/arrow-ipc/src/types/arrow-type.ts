import type { TimeUnit } from '@framehold/columns';

export interface ArrowInt {
  readonly kind: 'int';
  readonly bits: 8 | 16 | 32 | 64;
  readonly signed: boolean;
}

/** The Arrow types that we read and write, by their layout. */
export type ArrowType =
  | { readonly kind: 'null' }
  | { readonly kind: 'bool' }
  | ArrowInt
  | { readonly kind: 'float'; readonly bits: 16 | 32 | 64 }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number; readonly bits: number }
  | { readonly kind: 'bytes'; readonly text: boolean; readonly large: boolean }
  | { readonly kind: 'view'; readonly text: boolean }
  | { readonly kind: 'fixedBytes'; readonly width: number }
  | { readonly kind: 'date'; readonly unit: 'day' | 'ms' }
  | { readonly kind: 'time'; readonly unit: TimeUnit }
  | { readonly kind: 'timestamp'; readonly unit: TimeUnit; readonly zoned: boolean }
  | { readonly kind: 'duration'; readonly unit: TimeUnit }
  | { readonly kind: 'interval'; readonly unit: 'month' | 'dayTime' | 'monthDayNano' }
  /** One child. */
  | { readonly kind: 'list'; readonly large: boolean }
  /** One child. */
  | { readonly kind: 'fixedList'; readonly size: number }
  | { readonly kind: 'struct' }
  /** One child: a struct of key and value. */
  | { readonly kind: 'map' }
  /** A type id for each child. */
  | { readonly kind: 'union'; readonly dense: boolean; readonly typeIds: readonly number[] };

export const utf8Type = { kind: 'bytes', text: true, large: false } as const satisfies ArrowType;
export const binaryType = { kind: 'bytes', text: false, large: false } as const satisfies ArrowType;
export const listType = { kind: 'list', large: false } as const satisfies ArrowType;

/** Bytes of a value, for types of fixed size. */
export function valueBytes(type: ArrowType): number {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'decimal':
      return type.bits / 8;
    case 'date':
      return type.unit === 'day' ? 4 : 8;
    case 'time':
      return type.unit === 's' || type.unit === 'ms' ? 4 : 8;
    case 'timestamp':
    case 'duration':
      return 8;
    case 'interval':
      return { month: 4, dayTime: 8, monthDayNano: 16 }[type.unit];
    case 'fixedBytes':
      return type.width;
    case 'view':
      return 16;
    default:
      throw new Error(`values of ${type.kind} have no fixed size`);
  }
}
