import { type FileFormatName, fileFormats } from '../../src/core/rows/file-format.ts';
import { Check, Choice } from '../widgets/fields.tsx';
import { delimiters } from './import-options.ts';
import type { ImportPreview, Upload } from './upload.ts';

/** Options of the file in place of the server's detection. */
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
      <Choice
        label="Format"
        value={format ?? ''}
        options={[['', automatic(found?.format)], ...fileFormats.map((each) => [each, each] as const)]}
        onChange={(value) => upload.change({ format: value === '' ? undefined : (value as FileFormatName) })}
      />
      {isCsv && (
        <>
          <Choice
            label="Delimiter"
            value={delimiter ?? ''}
            options={[['', automatic(named)], ...delimiters.map(({ value, title }) => [value, title] as const)]}
            onChange={(value) => upload.change({ delimiter: value || undefined })}
          />
          <Choice
            label="First line"
            value={header === undefined ? '' : String(header)}
            options={[
              ['', automatic(found?.header === undefined ? undefined : found.header ? 'names' : 'a row')],
              ['true', 'Names of the columns'],
              ['false', 'A row'],
            ]}
            onChange={(value) =>
              upload.change({ header: value === '' ? undefined : value === 'true', types: new Map() })
            }
          />
        </>
      )}
      {isText && (
        <Check
          class="option-check"
          isChecked={skipsBadRows}
          onChange={(isChecked) => upload.change({ skipsBadRows: isChecked })}
        >
          Leave out rows that cannot be read
        </Check>
      )}
    </div>
  );
}

function automatic(found: string | undefined): string {
  return found === undefined ? 'Automatic' : `Automatic: ${found}`;
}
