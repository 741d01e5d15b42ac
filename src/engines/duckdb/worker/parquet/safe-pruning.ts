import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { pruningFacts } from '@framehold/parquet';
import type { PartSource } from '../../../../core/rows/frame-engine.ts';
import { LruMap } from '../../../../core/system/lru-map.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { uniqueNames } from './unique-names.ts';

const mostKnown = 10_000;
/** The length of the footer, and the magic number. */
const tailBytes = 8;

/** A file that is read, and what is known of it beyond its footer. */
export type ReadFile = Pick<PartSource, 'path' | 'isFreeOfNan'>;

/** What DuckDB must not prune by. */
export interface Pruning {
  readonly mayHideNan: boolean;
  /** A condition that all rows meet, where DuckDB would else answer max() by the file: NaN, of floats that may have some. */
  readonly condition: string | undefined;
  /** Columns by the names that SQL has for them. */
  readonly misread: readonly string[];
}

/** On columns that DuckDB adds to those of a file, which may hide them. */
const alwaysMet = [
  ['file_index', 'file_index >= 0'],
  ['file_row_number', 'file_row_number >= 0'],
  ['filename', "filename >= ''"],
] as const;

interface FileFacts extends Pick<Pruning, 'misread' | 'condition'> {
  /** Positions of columns. */
  readonly besideNan: readonly number[];
}

interface Known {
  readonly identity: string;
  /** Undefined where the footer is not readable: DuckDB says so, or knows better. */
  readonly facts: FileFacts | undefined;
}

/** Of files by their path: a footer is read once, and then as long as the file is the same. */
const known = new LruMap<Known>(mostKnown);

/** Of all of these files. */
export function pruningOf(files: readonly ReadFile[]): Pruning {
  const misread = new Set<string>();
  let mayHideNan = false;
  for (const { path, isFreeOfNan } of files) {
    const facts = factsOf(path);
    mayHideNan ||= !isFreeOfNan && facts?.besideNan.length !== 0;
    for (const name of facts?.misread ?? []) misread.add(name);
  }
  const [only, ...others] = files;
  // Of several files it reads the rows.
  const isAlone = only !== undefined && others.length === 0;
  const condition = mayHideNan && isAlone ? factsOf(only.path)?.condition : undefined;
  return { mayHideNan, condition, misread: [...misread] };
}

/** Positions of columns of a file where NaN may lie beside bounds. Undefined: its footer does not tell. */
export function columnsBesideNan(path: string): readonly number[] | undefined {
  return factsOf(path)?.besideNan;
}

/** The value of a column, which DuckDB computes rather than to push conditions on the column into the reader of the file. */
export function unprunedValue(column: string): string {
  return `greatest(${column})`;
}

function factsOf(path: string): FileFacts | undefined {
  try {
    const identity = identityOf(statSync(path));
    const before = known.get(path);
    if (before?.identity === identity) return before.facts;
    const facts = readFacts(path);
    known.set(path, { identity, facts });
    return facts;
  } catch {
    return undefined;
  }
}

function identityOf({
  ino,
  size,
  mtimeMs,
}: {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}): string {
  return `${ino}/${size}/${mtimeMs}`;
}

function readFacts(path: string): FileFacts | undefined {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const read = (at: number, length: number): Buffer => {
      const bytes = Buffer.allocUnsafe(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    };
    if (size < tailBytes) return undefined;
    const length = read(size - tailBytes, tailBytes).readUInt32LE(0);
    if (length > size - tailBytes) return undefined;
    const { besideNan, misread, names } = pruningFacts(read(size - tailBytes - length, length));
    const inSql = uniqueNames(names);
    const own = new Set(inSql.map(asciiLower));
    const [, condition] = alwaysMet.find(([name]) => !own.has(name)) ?? [];
    return { besideNan, condition, misread: misread.map((position) => inSql[position] ?? '') };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  } finally {
    closeSync(file);
  }
}
