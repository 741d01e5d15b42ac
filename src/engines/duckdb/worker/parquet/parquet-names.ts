import { uniqueNames } from './unique-names.ts';

/** Parquet key under which we keep column names that had to be changed: SQL cannot tell apart those that repeat. */
export const columnNamesKey = 'framehold.columns';

/** The names that columns have in a file, and what the file says about them beside. */
export function parquetNames(names: readonly string[]): {
  readonly names: readonly string[];
  readonly metadata: ReadonlyMap<string, string>;
} {
  const unique = uniqueNames(names);
  const areKept = names.every((name, index) => name === unique[index]);
  return { names: unique, metadata: new Map(areKept ? [] : [[columnNamesKey, JSON.stringify(names)]]) };
}
