import type { ArrowType } from './arrow-type.ts';

/** A field of a schema that we write. */
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
