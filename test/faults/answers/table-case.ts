import type { Random } from '../harness/random.ts';
import { type ColumnCase, columnCase, rowCount } from './column-case.ts';
import { type ColumnKind, declaredKinds, flatKinds, kindsOfLines, nestedKinds } from './column-kinds.ts';

/** How the rows of a table become a frame. */
export type PutDoor = 'createTable' | 'imp' | 'impParquet' | 'doPut' | 'lines';

/** Columns of which one frame is made at each of its doors. */
export interface TableCase {
  readonly name: string;
  readonly columns: readonly ColumnCase[];
  readonly doors: readonly PutDoor[];
  /** Whether the frame has other types than the columns. */
  readonly isDeclared: boolean;
  /** Whether files with the same rows are written by others. */
  readonly isFromOutside: boolean;
}

interface Sort {
  readonly kinds: readonly ColumnKind[];
  readonly doors: readonly PutDoor[];
}

const nestedAndFlatKinds = [...nestedKinds, ...flatKinds];

/** Frames of flat types alone are written in another way than those that have one other type. */
const sorts: readonly Sort[] = [
  { kinds: flatKinds, doors: ['createTable', 'imp'] },
  { kinds: nestedAndFlatKinds, doors: ['createTable', 'impParquet'] },
  { kinds: flatKinds, doors: ['impParquet', 'doPut'] },
  { kinds: declaredKinds, doors: ['createTable'] },
  { kinds: flatKinds, doors: ['createTable', 'doPut'] },
  { kinds: nestedAndFlatKinds, doors: ['imp', 'doPut'] },
  { kinds: kindsOfLines, doors: ['lines'] },
];

/** Tables with so many columns altogether, after `done` others. One kind follows another, so that few columns have all kinds. */
export function tableCases(random: Random, columns: number, done: number): TableCase[] {
  const inTable = Math.ceil(columns / sorts.length);
  const firstKinds = sorts.map(({ kinds }, index) => {
    const before = sorts.slice(0, index).filter((other) => other.kinds === kinds).length;
    return Math.floor(done / sorts.length) + before * inTable;
  });
  const tables = sorts.map(({ kinds, doors }, index) => ({
    name: `t${index}`,
    columns: [] as ColumnCase[],
    doors,
    isDeclared: kinds === declaredKinds,
    isFromOutside: kinds !== declaredKinds && kinds !== kindsOfLines,
  }));
  for (let number = 0; number < columns; number++) {
    const at = number % sorts.length;
    const kinds = sorts[at]?.kinds ?? flatKinds;
    const kind = kinds[((firstKinds[at] ?? 0) + Math.floor(number / sorts.length)) % kinds.length] as ColumnKind;
    tables[at]?.columns.push(columnCase(random.between(0, 2 ** 31), `c${number}`, kind));
  }
  return tables.filter((table) => table.columns.length > 0);
}

/** The rows [from, to), with the types that were declared or, where `asKept`, with those of the frame. */
export function rowsOf({ columns }: TableCase, { from = 0, to = rowCount, asKept = false } = {}): string {
  const shown = columns.map(({ name, kind, expression }) => {
    const kept = asKept && kind.kept !== undefined ? `(${expression})::${kind.kept}` : expression;
    return `${kept} AS ${name}`;
  });
  return `SELECT i, 0 AS m, ${shown.join(', ')} FROM range(${from}, ${to}) AS r(i)`;
}
