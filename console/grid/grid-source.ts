import type { ReadonlySignal } from '@preact/signals';

export interface GridColumn {
  readonly name: string;
  /** As the server names it: LONG, VARCHAR, TIMESTAMP … */
  readonly type: string;
}

/** As an answer describes it. `DOUBLE[][]` for an array of two dimensions. */
export function gridColumn({ name, type, elemType, dim = 1 }: AnswerColumn): GridColumn {
  return { name, type: type === 'ARRAY' && elemType !== undefined ? elemType + '[]'.repeat(dim) : type };
}

export interface AnswerColumn extends GridColumn {
  readonly elemType?: string | undefined;
  readonly dim?: number | undefined;
}

/** As received: large integers, decimals and times are texts, so that none is rounded. */
export type Cell = string | number | boolean | null | readonly unknown[] | { readonly [key: string]: unknown };

/** The source of a grid's rows. */
export interface GridSource {
  /** Another key is another table: selection and place are reset. */
  readonly key: string;
  readonly columns: readonly GridColumn[];
  readonly rowCount: ReadonlySignal<number>;
  /** Rows [from, to), counted from 0. Rejects with a FrameholdError, also where the table is another one now. */
  rows(from: number, to: number, signal: AbortSignal): Promise<readonly (readonly Cell[])[]>;
  /** For a table that is too wide for all columns of a row in one request. */
  readonly blocks?: ColumnBlocks | undefined;
}

/** Parts of rows: columns [block * columns, (block + 1) * columns), as far as there are. */
export interface ColumnBlocks {
  readonly columns: number;
  rows(block: number, from: number, to: number, signal: AbortSignal): Promise<readonly (readonly Cell[])[]>;
}
