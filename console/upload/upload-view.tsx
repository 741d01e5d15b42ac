import { useRef } from 'preact/hooks';
import { fileFormats } from '../../src/core/rows/file-format.ts';
import { identity, mayWrite } from '../api/session.ts';
import { Icon } from '../widgets/icon.tsx';
import { UploadCard } from './upload-card.tsx';
import { addFiles, removeUpload, startUpload, uploads } from './uploads.ts';

export function UploadView() {
  if (identity.value !== undefined && !mayWrite.value) {
    return (
      <div class="empty">
        <p>Your token may read frames, and not make any.</p>
      </div>
    );
  }
  const all = uploads.value;
  const startable = all.filter((upload) => upload.mayStart.value);
  const ended = all.filter(({ phase }) => phase.value.kind === 'done');
  return (
    <div class="view upload">
      <div class="toolbar">
        <h1>Upload</h1>
        {startable.length > 1 && (
          <button type="button" class="button primary push" onClick={() => startable.forEach(startUpload)}>
            <Icon name="upload" />
            Keep {startable.length} files
          </button>
        )}
        {ended.length > 1 && (
          <button
            type="button"
            class={startable.length > 1 ? 'button' : 'button push'}
            onClick={() => ended.forEach(removeUpload)}
          >
            Clear those that are done
          </button>
        )}
      </div>
      <DropZone isSmall={all.length > 0} />
      <ul class="upload-list">
        {all.map((upload) => (
          <li key={upload.id}>
            <UploadCard upload={upload} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function DropZone({ isSmall }: { readonly isSmall: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class={isSmall ? 'drop-zone small' : 'drop-zone'}>
      <Icon name="upload" />
      <p>Drop files here, or anywhere on this page.</p>
      <button type="button" class="button" onClick={() => input.current?.click()}>
        Choose files
      </button>
      <p class="muted">{fileFormats.map((format) => names[format]).join(', ')}; also packed as .gz or .zst</p>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          addFiles(currentTarget.files ?? []);
          currentTarget.value = '';
        }}
      />
    </div>
  );
}

const names = { csv: 'CSV', tsv: 'TSV', parquet: 'Parquet', arrow: 'Arrow', json: 'JSON', ndjson: 'NDJSON' } as const;
