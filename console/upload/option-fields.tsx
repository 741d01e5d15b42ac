import { type FileFormatName, fileFormats } from '../../src/core/file-format.ts';
import { delimiters } from './import-options.ts';
import type { ImportPreview, Upload } from './upload.ts';

/** How the file is to be read, where the server should not find it out. */
export function OptionFields({
  upload,
  found,
}: {
  readonly upload: Upload;
  readonly found: ImportPreview | undefined;
}) {
  const { format, delimiter, header, skipsBadRows } = upload.options.value;
  const known = format ?? found?.format;
  const isCsv = known === undefined || known === 'csv' || known === 'tsv';
  const isText = known !== 'parquet' && known !== 'arrow';
  const named = delimiters.find(({ value }) => value === found?.delimiter)?.title ?? found?.delimiter;
  return (
    <div class="option-fields">
      <label class="field">
        <span>Format</span>
        <select
          class="input"
          value={format ?? ''}
          onChange={({ currentTarget }) =>
            upload.change({ format: currentTarget.value === '' ? undefined : (currentTarget.value as FileFormatName) })
          }
        >
          <option value="">{found === undefined ? 'Automatic' : `Automatic: ${found.format}`}</option>
          {fileFormats.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      {isCsv && (
        <>
          <label class="field">
            <span>Delimiter</span>
            <select
              class="input"
              value={delimiter ?? ''}
              onChange={({ currentTarget }) => upload.change({ delimiter: currentTarget.value || undefined })}
            >
              <option value="">{named === undefined ? 'Automatic' : `Automatic: ${named}`}</option>
              {delimiters.map(({ value, title }) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>First line</span>
            <select
              class="input"
              value={header === undefined ? '' : String(header)}
              onChange={({ currentTarget: { value } }) =>
                upload.change({ header: value === '' ? undefined : value === 'true', types: new Map() })
              }
            >
              <option value="">
                {found?.header === undefined ? 'Automatic' : `Automatic: ${found.header ? 'names' : 'a row'}`}
              </option>
              <option value="true">Names of the columns</option>
              <option value="false">A row</option>
            </select>
          </label>
        </>
      )}
      {isText && (
        <label class="option-check">
          <input
            type="checkbox"
            checked={skipsBadRows}
            onChange={({ currentTarget }) => upload.change({ skipsBadRows: currentTarget.checked })}
          />
          Leave out rows that cannot be read
        </label>
      )}
    </div>
  );
}
