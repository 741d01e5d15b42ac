import type { FileFormatName } from '../../src/core/rows/file-format.ts';

/** A type in place of the detected one. */
export interface ChosenType {
  readonly type: string;
  /** The pattern of dates and times: `dd/MM/yyyy`. Empty: ISO 8601. */
  readonly pattern: string;
}

export interface ImportOptions {
  /** Undefined, here and below: the server finds it out. */
  readonly format: FileFormatName | undefined;
  readonly delimiter: string | undefined;
  readonly header: boolean | undefined;
  readonly skipsBadRows: boolean;
  /** By column. */
  readonly types: ReadonlyMap<string, ChosenType>;
}

export type ImportMode = 'create' | 'overwrite' | 'append';

/** Types that text can be read as. */
export const textTypes = [
  'BOOLEAN',
  'SHORT',
  'INT',
  'LONG',
  'FLOAT',
  'DOUBLE',
  'DECIMAL(18,4)',
  'DECIMAL(38,10)',
  'VARCHAR',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'UUID',
  'JSON',
] as const;

export const delimiters = [
  { value: ',', title: 'Comma' },
  { value: ';', title: 'Semicolon' },
  { value: '\t', title: 'Tab' },
  { value: '|', title: 'Bar' },
  { value: ' ', title: 'Space' },
] as const;

/** Whether the type has a pattern. */
export function hasPattern(type: string): boolean {
  return /^(DATE|TIME|TIMESTAMP)/.test(type);
}

/** `schema` of /imp: the types that were chosen, or undefined where none was. */
export function schemaOf(types: ImportOptions['types']): string | undefined {
  if (types.size === 0) return undefined;
  return JSON.stringify(
    [...types].map(([name, { type, pattern }]) => ({
      name,
      type,
      ...(pattern !== '' && hasPattern(type) && { pattern }),
    })),
  );
}

/** The parameters of /imp, without `schema`. */
export function importParameters(
  name: string,
  mode: ImportMode,
  { format, delimiter, header, skipsBadRows }: Omit<ImportOptions, 'types'>,
): Readonly<Record<string, string | boolean | undefined>> {
  const isCsv = format === undefined || format === 'csv' || format === 'tsv';
  return {
    name,
    overwrite: mode === 'overwrite' || undefined,
    append: mode === 'append' || undefined,
    format,
    delimiter: isCsv ? delimiter : undefined,
    header: isCsv ? header : undefined,
    atomicity: skipsBadRows ? 'skipRow' : undefined,
    fmt: 'json',
  };
}
