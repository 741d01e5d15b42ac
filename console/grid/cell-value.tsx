import { RevealedText } from '../widgets/revealed-text.tsx';
import { isNotFinite, textOf } from './cell-text.ts';
import type { Cell, GridColumn } from './grid-source.ts';

export interface CellValueProps {
  readonly cell: Cell;
  readonly column: GridColumn;
  /** Characters that are shown. Default: all. */
  readonly longest?: number;
}

/** A value outside of a grid, with the look that it has in one. */
export function CellValue({ cell, column, longest = Infinity }: CellValueProps) {
  if (cell === null) return <em class="muted">NULL</em>;
  if (cell === '') return <em class="muted">""</em>;
  const text = textOf(cell, column);
  if (isNotFinite(cell, column)) return <span class="not-finite">{text}</span>;
  return <RevealedText text={text.length > longest ? `${text.slice(0, longest)}…` : text} />;
}
