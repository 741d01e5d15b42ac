import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { mayWrite } from '../../api/session.ts';
import { offerCommands } from '../../navigation/commands.ts';
import { goTo, hrefOf } from '../../navigation/route.ts';
import { ErrorMessage } from '../../widgets/error-message.tsx';
import { formatCount } from '../../widgets/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { followFrames, frames, isComplete, listError } from './frame-list.ts';
import { FrameTable, filter } from './frame-table.tsx';

export function FrameListView() {
  const search = useRef<HTMLInputElement>(null);
  const count = useComputed(() => frames.value.size).value;
  const handles = useComputed(() => (isComplete.value ? [...frames.value.keys()].join('\n') : '')).value;
  // Before the first frame is drawn: the user waits for the list.
  useLayoutEffect(() => followFrames(), []);
  useEffect(() => {
    const names = handles === '' ? [] : handles.split('\n');
    return offerCommands('frames', [
      { id: 'frames-filter', title: 'Filter frames', keys: '/', run: () => search.current?.focus() },
      ...names.map((handle) => ({
        id: `frame-${handle}`,
        title: `Open frame ${handle}`,
        run: () => goTo(hrefOf('frames', [handle])),
      })),
    ]);
  }, [handles]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  if (isComplete.value && count === 0) return <NoFrames />;
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Frames</h1>
        <span class="muted" role="status">
          {isComplete.value ? formatCount(count) : count > 0 ? `${formatCount(count)} so far` : ''}
        </span>
        <input
          ref={search}
          class="input push frame-filter"
          type="search"
          aria-label="Filter by name"
          placeholder="Filter by name ( / )"
          value={filter.value}
          onInput={(event) => {
            filter.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== 'ArrowDown') return;
            const first = document.querySelector<HTMLElement>('.frame-scroll a');
            event.preventDefault();
            if (event.key === 'Enter') first?.click();
            else first?.focus();
          }}
        />
        {mayWrite.value && (
          <a class="button frame-upload" href={hrefOf('upload')}>
            <Icon name="upload" /> <span class="label">Upload</span>
          </a>
        )}
      </div>
      <ErrorMessage error={listError.value} />
      <FrameTable />
    </div>
  );
}

function NoFrames() {
  return (
    <div class="empty">
      <Icon name="table" />
      <h1>No frames yet</h1>
      {mayWrite.value ? (
        <>
          <p>Drop a CSV, Parquet, Arrow or JSON file on the page, or send one:</p>
          <pre class="snippet">{`curl --data-binary @trades.csv '${location.origin}/imp?name=trades'`}</pre>
          <p>
            A server that is started with <code>--demo</code> has a few to look at.
          </p>
          <a class="button primary" href={hrefOf('upload')}>
            <Icon name="upload" /> Upload a file
          </a>
        </>
      ) : (
        <p>Nobody has put a frame here, or shares one with you.</p>
      )}
    </div>
  );
}
