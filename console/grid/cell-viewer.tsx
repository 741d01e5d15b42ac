import { useMemo, useState } from 'preact/hooks';
import { copyText } from '../widgets/clipboard.ts';
import { Dialog } from '../widgets/dialog.tsx';
import { Check } from '../widgets/fields.tsx';
import { formatCount } from '../widgets/format.ts';
import { revealedText } from '../widgets/hidden-characters.ts';
import { notify } from '../widgets/notices.tsx';
import { RevealedText } from '../widgets/revealed-text.tsx';
import { saveBlob } from '../widgets/save-blob.ts';
import { isNotFinite, jsonOf, textOf } from './cell-text.ts';
import { CellValue } from './cell-value.tsx';
import type { Cell, GridColumn } from './grid-source.ts';

/** More would stop the page for a while. */
const maxShown = 200_000;

export interface CellViewerProps {
  readonly cell: Cell;
  readonly column: GridColumn;
  /** Counted from 0. */
  readonly row: number;
  readonly onClose: () => void;
}

/** All of one value: long text, JSON, arrays. */
export function CellViewer({ cell, column, row, onClose }: CellViewerProps) {
  const text = useMemo(() => textOf(cell, column), [cell, column]);
  const structured = useMemo(() => structuredText(cell, column, text), [cell, column, text]);
  const [isStructured, setStructured] = useState(structured !== undefined);
  const full = isStructured && structured !== undefined ? structured : text;
  return (
    <Dialog title={`${revealedText(column.name)} of row ${formatCount(row + 1)}`} class="cell-viewer" onClose={onClose}>
      <div class="toolbar">
        <span class="badge">{column.type}</span>
        <span class="muted">{isNotFinite(cell, column) ? 'not a finite value' : describe(cell, text)}</span>
        {structured !== undefined && (
          <Check class="option push" isChecked={isStructured} onChange={setStructured}>
            Indented
          </Check>
        )}
      </div>
      <section aria-label="Value">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
        <pre class="cell-text" tabIndex={0}>
          {cell === null ? (
            <em class="muted">NULL</em>
          ) : isNotFinite(cell, column) ? (
            <CellValue cell={cell} column={column} />
          ) : (
            <RevealedText text={full.slice(0, maxShown)} />
          )}
        </pre>
      </section>
      {full.length > maxShown && (
        <p class="muted">The first {formatCount(maxShown)} characters are shown. Copy and Download have all of them.</p>
      )}
      <div class="dialog-actions">
        {full.length > maxShown && (
          <button
            type="button"
            class="button"
            onClick={() => saveBlob(new Blob([full], { type: 'text/plain' }), `${column.name}-${row + 1}.txt`)}
          >
            Download
          </button>
        )}
        <button
          type="button"
          class="button"
          disabled={cell === null}
          onClick={() => notify(copyText(full) ? 'Copied' : 'The browser did not let it be copied')}
        >
          Copy
        </button>
      </div>
    </Dialog>
  );
}

function describe(cell: Cell, text: string): string {
  if (cell === null) return 'no value';
  if (Array.isArray(cell)) return `${formatCount(cell.length)} elements`;
  return text === '' ? 'empty text' : `${formatCount(text.length)} characters`;
}

/** Texts that are JSON as well. */
function structuredText(cell: Cell, column: GridColumn, text: string): string | undefined {
  if (cell !== null && typeof cell === 'object') return jsonOf(cell, column, 2);
  if (typeof cell !== 'string' || text.length > 5_000_000 || !/^\s*[[{]/.test(text)) return undefined;
  return indentJson(text);
}

/** Character by character, because JSON.parse would round numbers. undefined: it is not JSON. */
export function indentJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  let [result, depth] = ['', 0];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    if (token === '{' || token === '[') {
      depth++;
      result += `${token}\n${'  '.repeat(depth)}`;
    } else if (token === '}' || token === ']') {
      depth--;
      result = result.trimEnd();
      const isEmpty = result.endsWith('{') || result.endsWith('[');
      result += isEmpty ? token : `\n${'  '.repeat(depth)}${token}`;
    } else if (token === ',') result += `,\n${'  '.repeat(depth)}`;
    else result += token === ':' ? ': ' : token;
  }
  return result;
}
