import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { LruMap } from '../../../../core/lru-map.ts';
import { pruningFacts } from '../../../../encoding/parquet/pruning-facts.ts';
import { uniqueNames } from './unique-names.ts';

const mostKnown = 10_000;
/** The length of the footer, and the magic number. */
const tailBytes = 8;

/** What DuckDB must not prune by. */
export interface Pruning {
  readonly mayHideNan: boolean;
  /** Columns by the names that SQL has for them. */
  readonly misread: readonly string[];
}

interface Known {
  readonly identity: string;
  /** Undefined where the footer is not readable: DuckDB says so, or knows better. */
  readonly facts: Pruning | undefined;
}

/** Of files by their path: a footer is read once, and then as long as the file is the same. */
const known = new LruMap<Known>(mostKnown);

/** Of all of these files. */
export function pruningOf(paths: readonly string[]): Pruning {
  const misread = new Set<string>();
  let mayHideNan = false;
  for (const path of paths) {
    const facts = factsOf(path);
    mayHideNan ||= facts?.mayHideNan ?? true;
    for (const name of facts?.misread ?? []) misread.add(name);
  }
  return { mayHideNan, misread: [...misread] };
}

/** The value of a column, which DuckDB computes rather than to push conditions on the column into the reader of the file. */
export function unprunedValue(column: string): string {
  return `greatest(${column})`;
}

function factsOf(path: string): Pruning | undefined {
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

function readFacts(path: string): Pruning | undefined {
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
    const { mayHideNan, misread, names } = pruningFacts(read(size - tailBytes - length, length));
    const inSql = uniqueNames(names);
    return { mayHideNan, misread: misread.map((position) => inSql[position] ?? '') };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  } finally {
    closeSync(file);
  }
}
