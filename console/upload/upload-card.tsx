import { useId } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import { hrefOf } from '../navigation/route.ts';
import { formatBytes, formatCount, formatDuration } from '../widgets/format.ts';
import { Icon } from '../widgets/icon.tsx';
import { OptionFields } from './option-fields.tsx';
import { PreviewTable } from './preview-table.tsx';
import { RejectionList } from './rejection-list.tsx';
import type { ImportAnswer, Phase, Upload } from './upload.ts';
import { removeUpload, startUpload } from './uploads.ts';

/** One file: the options of its upload, then its progress, then the result. */
export function UploadCard({ upload }: { readonly upload: Upload }) {
  const { file, phase } = upload;
  const titleId = useId();
  const now = phase.value;
  const isUnderWay = now.kind === 'waiting' || now.kind === 'sending' || now.kind === 'reading';
  return (
    <section class="card" aria-labelledby={titleId}>
      <div class="card-head">
        <h2 id={titleId}>{file.name}</h2>
        <span class="muted">{formatBytes(file.size)}</span>
        {isUnderWay ? (
          <button type="button" class="button push" onClick={() => upload.cancel()}>
            Cancel
          </button>
        ) : (
          <button
            type="button"
            class="icon-button push"
            aria-label={`Remove ${file.name} from the list`}
            onClick={() => removeUpload(upload)}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
      {isUnderWay && <Progress phase={now} bytes={file.size} />}
      {now.kind === 'done' && <Outcome answer={now.answer} />}
      {(now.kind === 'ready' || now.kind === 'failed' || now.kind === 'cancelled') && <Plan upload={upload} />}
    </section>
  );
}

function Plan({ upload }: { readonly upload: Upload }) {
  const { phase, preview } = upload;
  const now = phase.value;
  const state = preview.value;
  const shown = state.kind === 'shown' ? state.preview : state.kind === 'loading' ? state.before : undefined;
  return (
    <>
      {now.kind === 'failed' && (
        <p class="message error" role="alert">
          {messageOf(now.error)}
        </p>
      )}
      {now.kind === 'cancelled' && <p class="muted">Cancelled: nothing was kept.</p>}
      <TargetFields upload={upload} />
      <OptionFields upload={upload} found={shown} />
      {state.kind === 'failed' && (
        <p class="message error" role="alert">
          {messageOf(state.error)}
        </p>
      )}
      {state.kind === 'loading' && shown === undefined && <p class="muted">Looking at the file …</p>}
      {state.kind === 'none' && (
        <p class="muted">Types and columns are read from the file when it is kept: it has no preview.</p>
      )}
      {shown !== undefined && <PreviewTable upload={upload} preview={shown} isStale={state.kind === 'loading'} />}
      {shown !== undefined && (
        <RejectionList
          rejections={shown.rejections}
          count={shown.rowsRejected}
          title={
            upload.options.value.skipsBadRows
              ? 'Rows that will be left out, so far'
              : 'Rows that cannot be read: the file would be refused'
          }
        />
      )}
      <div class="card-actions">
        <button
          type="button"
          class={upload.mode.value === 'overwrite' ? 'button danger' : 'button primary'}
          disabled={!upload.mayStart.value}
          onClick={() => startUpload(upload)}
        >
          <Icon name="upload" />
          {actions[upload.mode.value]}
        </button>
      </div>
    </>
  );
}

const actions = { create: 'Keep as a frame', overwrite: 'Replace the frame', append: 'Add to the frame' } as const;

function TargetFields({ upload }: { readonly upload: Upload }) {
  const { handle, target, whenTaken, fault, id } = upload;
  const found = target.value;
  const hintId = useId();
  return (
    <div class="target-fields">
      <label class="field">
        <span>Name of the frame</span>
        <input
          class="input"
          type="text"
          spellcheck={false}
          autoComplete="off"
          value={handle.value}
          aria-invalid={fault.value !== undefined}
          aria-describedby={hintId}
          onInput={({ currentTarget }) => {
            target.value = { kind: 'unknown' };
            whenTaken.value = undefined;
            handle.value = currentTarget.value;
          }}
        />
      </label>
      <div id={hintId} class="target-hint" aria-live="polite">
        {fault.value !== undefined && <span class="error">{fault.value}</span>}
        {fault.value === undefined && found.kind === 'free' && <span class="muted">A new frame.</span>}
        {found.kind === 'failed' && <span class="error">{messageOf(found.error)}</span>}
        {found.kind === 'taken' && fault.value === undefined && (
          <fieldset class="target-choices">
            <legend>
              There is a frame of this name already
              {found.rows === null ? '' : `, with ${formatCount(found.rows)} rows`}. Choose another name, or
            </legend>
            {(['overwrite', 'append'] as const).map((choice) => (
              <label key={choice}>
                <input
                  type="radio"
                  name={`taken-${id}`}
                  checked={whenTaken.value === choice}
                  onChange={() => {
                    whenTaken.value = choice;
                  }}
                />
                {choice === 'overwrite' ? 'replace it' : 'add these rows to it'}
              </label>
            ))}
          </fieldset>
        )}
      </div>
    </div>
  );
}

function Progress({ phase, bytes }: { readonly phase: Phase; readonly bytes: number }) {
  if (phase.kind === 'sending') {
    const { sent, bytesPerSecond } = phase;
    const left = bytesPerSecond === undefined || bytesPerSecond === 0 ? undefined : (bytes - sent) / bytesPerSecond;
    return (
      <div class="progress">
        <progress aria-label="Sent" value={sent} max={bytes} />
        <span>
          {formatBytes(sent)} of {formatBytes(bytes)} sent
          {bytesPerSecond !== undefined && `, ${formatBytes(bytesPerSecond)}/s`}
          {left !== undefined && left > 1 && `, ${formatDuration(left * 1000)} left`}
        </span>
      </div>
    );
  }
  return (
    <div class="progress">
      <progress aria-label={phase.kind === 'reading' ? 'The server reads the file' : 'Waiting'} />
      <span>{phase.kind === 'reading' ? 'All is sent. The server is reading it …' : 'Waiting for its turn …'}</span>
    </div>
  );
}

function Outcome({ answer }: { readonly answer: ImportAnswer }) {
  const { handle, rowsImported, rowsRejected, columns, ms, rejections } = answer;
  return (
    <>
      <p class="message success" role="status">
        <Icon name="check" />
        <span>
          {formatCount(rowsImported)} {rowsImported === 1 ? 'row' : 'rows'} of {formatCount(columns.length)}{' '}
          {columns.length === 1 ? 'column' : 'columns'} kept in {formatDuration(ms)}
          {rowsRejected > 0 && `; ${formatCount(rowsRejected)} left out`}.
        </span>
      </p>
      <RejectionList rejections={rejections ?? []} count={rowsRejected} title="Rows that were left out" />
      <div class="card-actions">
        <a class="button primary" href={hrefOf('frames', [handle])}>
          <Icon name="table" />
          Open {handle}
        </a>
      </div>
    </>
  );
}
