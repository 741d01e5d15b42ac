import { execFile } from 'node:child_process';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { pythonEnvironment } from '../../support/python-environment.ts';
import type { ColumnCase } from './column-case.ts';
import type { Frame } from './comparison.ts';
import type { Reference } from './reference.ts';
import { rowsOf, type TableCase } from './table-case.ts';

const run = promisify(execFile);
const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));
const program = fileURLToPath(new URL('./foreign_files.py', import.meta.url));

/** The interpreter that has the other writers of Parquet. Throws Missing. */
export async function foreignWriters(): Promise<string> {
  const what = 'other writers of Parquet';
  return join(await pythonEnvironment({ what, name: 'parquet-writers', requirements }), 'bin', 'python');
}

/** As foreign_files.py names them, and DuckDB of the version that the server has. */
export const foreignWriterNames = ['pyarrow', 'pyarrow_filters', 'duckdb2', 'duckdb1'] as const;

export interface ForeignFrame {
  readonly frame: string;
  /** SQL for the rows of its file. */
  readonly rows: string;
}

export interface ForeignFrames {
  readonly frames: readonly Frame[];
  /** By the name of a table that is to be changed: the frame that one of the writers made of it. */
  readonly changed: ReadonlyMap<string, ForeignFrame>;
}

/** Writes the Arrow streams of a folder as Parquet, by each of the writers. */
export async function foreignFrames(
  tables: readonly TableCase[],
  folder: string,
  reference: Reference,
): Promise<ForeignFrames> {
  const { stdout } = await run(await foreignWriters(), [program, folder]);
  const written = new Map(Object.entries(JSON.parse(stdout) as Record<string, string[]>));
  const frames: Frame[] = [];
  for (const table of tables.filter(({ isFromOutside }) => isFromOutside)) {
    await copyFile(await reference.parquet(rowsOf(table)), join(folder, `${table.name}_duckdb1.parquet`));
    written.set(
      `${table.name}_duckdb1`,
      table.columns.map(({ name }) => name),
    );
    for (const writer of foreignWriterNames) {
      // As Arrow a UUID is text.
      const isAsMeant = ({ kind }: ColumnCase): boolean => writer === 'duckdb1' || kind.type !== 'UUID';
      const name = `${table.name}_${writer}`;
      const columns = table.columns.filter((column) => isAsMeant(column) && written.get(name)?.includes(column.name));
      if (columns.length === 0) continue;
      const isChanged = writer.startsWith('duckdb');
      if (isChanged) await reference.addFile(name, join(folder, `${name}.parquet`));
      frames.push({ name, table, columns, meant: isChanged ? name : table.name });
    }
  }
  const changed = new Map<string, ForeignFrame>();
  for (const [index, name] of (await readdir(folder))
    .filter((file) => /^n_.*\.arrow$/.test(file))
    .sort()
    .entries()) {
    const table = name.slice(0, -'.arrow'.length);
    const frame = `${table}_${foreignWriterNames[index % 3]}`;
    if ((written.get(frame)?.length ?? 0) > 2)
      changed.set(table, { frame, rows: `SELECT * FROM read_parquet('${join(folder, frame)}.parquet')` });
  }
  return { frames, changed };
}
