import { useRef, useState } from 'preact/hooks';
import { formatColumnNames, parseColumnNames } from '../../api/column-names.ts';
import type { CellRange } from '../../grid/cell-selection.ts';
import { Grid, type GridHandle } from '../../grid/grid.tsx';
import { goTo, hrefOf, place } from '../../navigation/route.ts';
import type { FrameModel } from '../frame-model.ts';
import { ColumnChooser } from './column-chooser.tsx';
import { FrameExportDialog } from './frame-export-dialog.tsx';

/** The rows of a frame. The address has the first row that is seen, counted from 1. */
export function RowsTab({ model }: { readonly model: FrameModel }) {
  const [isChoosing, setChoosing] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const [range, setRange] = useState<CellRange>();
  const source = model.source.value;
  const grid = useRef<GridHandle | null>(null);
  const written = useRef<string | null>(place.peek().parameters.get('row'));
  const asked = place.value.parameters.get('row');
  if (asked !== written.current) {
    written.current = asked;
    grid.current?.goToRow(rowOf(asked));
  }
  if (source === undefined) return <div class="empty" aria-busy="true" />;
  const setParameter = (name: 'row' | 'columns', value: string | undefined): void => {
    const parameters = Object.fromEntries(place.peek().parameters);
    goTo(hrefOf('frames', [model.handle], { ...parameters, [name]: value }), { replace: true });
  };
  const chosen = parseColumnNames(place.value.parameters.get('columns') ?? '');
  const frame = model.frame.value;
  const all = frame?.columns ?? [];
  const loss = source.lost.value;
  const hasRange = range !== undefined && (range.firstRow < range.lastRow || range.firstColumn < range.lastColumn);
  return (
    <>
      <Grid
        source={source}
        label={`Rows of ${model.handle}`}
        firstRow={rowOf(asked)}
        handle={(handle) => {
          grid.current = handle;
        }}
        onVisible={(row) => {
          const text = row === 0 ? null : String(row + 1);
          if (text === written.current) return;
          written.current = text;
          setParameter('row', text ?? undefined);
        }}
        renderError={() => (loss === undefined ? undefined : <span>These rows cannot be had any more.</span>)}
        onSelect={setRange}
        footer={
          <>
            <button type="button" class="link-button" onClick={() => setChoosing(true)}>
              {chosen.length === 0 ? 'Columns' : `${source.columns.length} of ${all.length} columns`}
            </button>
            {hasRange && loss === undefined && (
              <button type="button" class="link-button" onClick={() => setExporting(true)}>
                Export selection
              </button>
            )}
          </>
        }
      />
      {isExporting && range !== undefined && frame !== undefined && (
        <FrameExportDialog
          frame={frame}
          selection={{
            from: range.firstRow,
            to: range.lastRow + 1,
            columns: source.columns.slice(range.firstColumn, range.lastColumn + 1).map(({ name }) => name),
          }}
          onClose={() => setExporting(false)}
        />
      )}
      {isChoosing && (
        <ColumnChooser
          columns={all}
          chosen={chosen}
          onChoose={(names) => setParameter('columns', names.length === 0 ? undefined : formatColumnNames(names))}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

function rowOf(text: string | null): number {
  const row = Number(text ?? 1);
  return Number.isSafeInteger(row) && row > 0 ? row - 1 : 0;
}
