import { useState } from 'preact/hooks';
import { CellValue } from '../grid/cell-value.tsx';
import { type Cell, gridColumn } from '../grid/grid-source.ts';
import { SearchInput } from '../widgets/fields.tsx';
import { formatCount } from '../widgets/format.ts';
import { revealedText } from '../widgets/hidden-characters.ts';
import { RevealedText } from '../widgets/revealed-text.tsx';
import { hasPattern, textTypes } from './import-options.ts';
import type { ImportPreview, Upload } from './upload.ts';

/** More would be slow, and unreadable. */
const mostColumns = 50;
const fewColumns = 12;
const longestCell = 200;

interface PreviewTableProps {
  readonly upload: Upload;
  readonly preview: ImportPreview;
  readonly isStale: boolean;
}

/** The first rows, and above each column its type, to be corrected. */
export function PreviewTable({ upload, preview, isStale }: PreviewTableProps) {
  const [filter, setFilter] = useState('');
  const { columns, dataset, complete, rows } = preview;
  const found = columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  const shown = found.slice(0, mostColumns);
  const isFixed = upload.mode.value === 'append';
  return (
    <div class="preview" aria-busy={isStale}>
      <div class="preview-head">
        <span class="muted">
          {formatCount(columns.length)} {columns.length === 1 ? 'column' : 'columns'}.{' '}
          {complete
            ? `${formatCount(rows)} ${rows === 1 ? 'row' : 'rows'}.`
            : `Types as found in the first ${formatCount(rows)} rows: later rows may change those that you do not choose.`}
          {isFixed && ' Types are those of the frame.'}
        </span>
        {columns.length > fewColumns && (
          <SearchInput
            label="Columns with this in their name"
            placeholder="Filter columns"
            value={filter}
            onInput={setFilter}
          />
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="table-scroll" tabIndex={0} aria-label={`The first rows of ${upload.file.name}`}>
        <table class="preview-table">
          <thead>
            <tr>
              {shown.map(({ name, type, index }) => (
                <th key={index} scope="col">
                  <span class="column-name" title={revealedText(name)}>
                    <RevealedText text={name} />
                  </span>
                  {isFixed ? <span class="muted">{type}</span> : <TypeField upload={upload} name={name} type={type} />}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {dataset.map((row, number) => (
              <tr key={number}>
                {shown.map(({ index, ...column }) => (
                  <td key={index}>
                    <CellValue cell={(row[index] ?? null) as Cell} column={gridColumn(column)} longest={longestCell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {found.length > shown.length && (
        <p class="muted">
          The first {mostColumns} of {formatCount(found.length)} columns are shown.
        </p>
      )}
    </div>
  );
}

interface TypeFieldProps {
  readonly upload: Upload;
  readonly name: string;
  /** As in the preview. */
  readonly type: string;
}

function TypeField({ upload, name, type }: TypeFieldProps) {
  const chosen = upload.options.value.types.get(name);
  return (
    <>
      <select
        class="input"
        aria-label={`Type of ${name}`}
        value={chosen?.type ?? ''}
        onChange={({ currentTarget: { value } }) =>
          upload.chooseType(name, value === '' ? undefined : { type: value, pattern: chosen?.pattern ?? '' })
        }
      >
        <option value="">{chosen === undefined ? `${type} (found)` : 'Automatic'}</option>
        {textTypes.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      {chosen !== undefined && hasPattern(chosen.type) && (
        <input
          class="input"
          type="text"
          spellcheck={false}
          aria-label={`Pattern of ${name}`}
          title="How it is written, such as dd/MM/yyyy HH:mm:ss. Empty: ISO 8601"
          placeholder="dd/MM/yyyy"
          value={chosen.pattern}
          onInput={({ currentTarget }) => upload.chooseType(name, { type: chosen.type, pattern: currentTarget.value })}
        />
      )}
    </>
  );
}
