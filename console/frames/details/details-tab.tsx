import { useState } from 'preact/hooks';
import { call } from '../../api/request.ts';
import { identity, mayAdminister, mayWrite } from '../../api/session.ts';
import { goTo, hrefOf } from '../../navigation/route.ts';
import { Confirm } from '../../widgets/confirm.tsx';
import { ErrorMessage } from '../../widgets/error-message.tsx';
import { formatBytes, formatCount, formatCountOf, formatDuration } from '../../widgets/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { notify } from '../../widgets/notices.tsx';
import { type Frame, lineageOf } from '../frame.ts';
import { formatRemaining, formatTime } from '../frame-format.ts';
import { FrameShares } from './frame-shares.tsx';

export interface DetailsTabProps {
  readonly frame: Frame;
  readonly onChange: () => void;
}

/** The facts of a frame beside its rows, and its actions. */
export function DetailsTab({ frame, onChange }: DetailsTabProps) {
  const [isDropping, setDropping] = useState(false);
  const isOwn = frame.shared !== true;
  const mayShare = isOwn && mayAdminister.value && identity.value?.credential !== 'none';
  return (
    <div class="frame-scroll-panel">
      <dl class="facts">
        <dt>Rows</dt>
        <dd>{frame.rows === null ? 'not known' : formatCount(frame.rows)}</dd>
        <dt>Size on disk</dt>
        <dd>
          {formatBytes(frame.bytes.cold)} <span class="muted">({formatCount(frame.bytes.cold)} bytes)</span>
        </dd>
        <dt>In memory</dt>
        <dd>{formatBytes(frame.bytes.hot)}</dd>
        <dt>Version</dt>
        <dd>
          {formatCount(frame.version)} {frame.versionId !== null && <code>{frame.versionId}</code>}
        </dd>
        {frame.versionId !== null && (
          <>
            <dt>Lineage</dt>
            <dd>
              <code>{lineageOf(frame.versionId)}</code>
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          {frame.created === null ? 'not known' : <time dateTime={frame.created}>{formatTime(frame.created)}</time>}
        </dd>
        <dt>Time to live</dt>
        <dd>
          {frame.ttl === null
            ? 'none: it stays until it is dropped'
            : `${formatDuration(frame.ttl * 1000)} after the last read${frame.expires === null ? '' : `: goes ${formatRemaining(frame.expires)}`}`}
        </dd>
      </dl>
      {mayWrite.value && isOwn && frame.state === 'held' && <Renew frame={frame} onChange={onChange} />}
      {mayShare && <FrameShares handle={frame.handle} />}
      {mayWrite.value && isOwn && (
        <section class="frame-section">
          <h2>Drop</h2>
          <p class="muted">Nobody can read it any more then. Readers that have begun go on to the end.</p>
          <button type="button" class="button danger" onClick={() => setDropping(true)}>
            <Icon name="trash" /> Drop the frame
          </button>
        </section>
      )}
      {isDropping && (
        <Confirm
          title={`Drop ${frame.handle}?`}
          text={
            frame.rows === null
              ? 'The frame is lost for good.'
              : `It has ${formatCountOf(frame.rows, 'row')}, which are lost for good.`
          }
          action="Drop"
          onConfirm={async () => {
            await call('DELETE /handles/{handle}', {
              segments: { handle: frame.handle },
              headers: { 'if-match': `"${frame.version}"` },
            });
            notify(`${frame.handle} is dropped`);
            goTo(hrefOf('frames'));
          }}
          onClose={() => setDropping(false)}
        />
      )}
    </div>
  );
}

function Renew({ frame, onChange }: DetailsTabProps) {
  const [ttl, setTtl] = useState('');
  const [error, setError] = useState<unknown>();
  const renew = async (query: { readonly ttl?: string }): Promise<void> => {
    try {
      await call('POST /handles/{handle}/renew', { segments: { handle: frame.handle }, query });
      setError(undefined);
      notify('The time to live begins again');
      onChange();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <form
      class="frame-section"
      onSubmit={(event) => {
        event.preventDefault();
        void renew(ttl.trim() === '' ? {} : { ttl: ttl.trim() });
      }}
    >
      <h2>Time to live</h2>
      <div class="toolbar">
        <input
          class="input"
          type="text"
          aria-label="Another time to live"
          placeholder="15m, 12h, 7d, none"
          value={ttl}
          onInput={(event) => setTtl(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={frame.ttl === null && ttl.trim() === ''}>
          {ttl.trim() === '' ? 'Renew' : 'Set'}
        </button>
      </div>
      <ErrorMessage error={error} />
    </form>
  );
}
