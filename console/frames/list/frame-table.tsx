// biome-ignore-all lint/a11y/useSemanticElements: a table element cannot have only some of its rows
// biome-ignore-all lint/a11y/useFocusableInteractive: the links and buttons in it have the focus
import { signal, useComputed } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hrefOf } from '../../navigation/route.ts';
import { formatBytes, formatCount } from '../../widgets/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import type { Frame } from '../frame.ts';
import { formatTime } from '../frame-format.ts';
import { frames } from './frame-list.ts';
import { chooseFrames, type SortKey } from './frame-order.ts';

const rowPx = 38;
const overscanRows = 8;

/** They stay until the return to the list. */
export const filter = signal('');
const order = signal<{ readonly by: SortKey; readonly isDescending: boolean }>({ by: 'handle', isDescending: false });
const scrolledTo = signal(0);

const headers: readonly { readonly by: SortKey; readonly title: string; readonly class: string }[] = [
  { by: 'handle', title: 'Name', class: 'name' },
  { by: 'rows', title: 'Rows', class: 'number' },
  { by: 'bytes', title: 'Size', class: 'number' },
  { by: 'created', title: 'Created', class: 'created' },
];

/** Frames that the filter leaves. Only rows that are to be seen are in the document. */
export function FrameTable() {
  const scroller = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState({ top: scrolledTo.peek(), height: 800 });
  const chosen = useComputed(() => chooseFrames(frames.value.values(), filter.value, order.value)).value;
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    element.scrollTop = scrolledTo.peek();
    const measure = (): void => {
      scrolledTo.value = element.scrollTop;
      setViewport({ top: element.scrollTop, height: element.clientHeight });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);
  const first = Math.max(0, Math.min(chosen.length, Math.floor(viewport.top / rowPx)) - overscanRows);
  const end = Math.min(chosen.length, Math.ceil((viewport.top + viewport.height) / rowPx) + overscanRows);
  return (
    <div class="frame-table" role="table" aria-label="Frames" aria-rowcount={chosen.length + 1}>
      <div ref={scroller} class="frame-scroll" role="presentation">
        <div class="frame-head" role="rowgroup">
          <div class="frame-row head" role="row" aria-rowindex={1}>
            {headers.map((header) => (
              <SortHeader key={header.by} {...header} />
            ))}
          </div>
        </div>
        <div
          class="frame-spacer"
          role="rowgroup"
          style={{ height: `${chosen.length * rowPx}px` }}
          onKeyDown={moveBetweenLinks}
        >
          {chosen.slice(first, end).map((frame, index) => (
            <FrameRow key={frame.handle} frame={frame} index={first + index} />
          ))}
        </div>
      </div>
    </div>
  );
}

function SortHeader({ by, title, class: className }: (typeof headers)[number]) {
  const isSorted = order.value.by === by;
  const { isDescending } = order.value;
  const direction = isDescending ? 'descending' : 'ascending';
  return (
    <div role="columnheader" class={className} aria-sort={isSorted ? direction : 'none'}>
      <button
        type="button"
        class="sort-button"
        onClick={() => {
          order.value = { by, isDescending: isSorted ? !isDescending : by !== 'handle' };
        }}
      >
        {title}
        <span aria-hidden="true">{isSorted ? (isDescending ? '↓' : '↑') : ''}</span>
      </button>
    </div>
  );
}

function FrameRow({ frame, index }: { readonly frame: Frame; readonly index: number }) {
  return (
    <div class="frame-row" role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${index * rowPx}px)` }}>
      <div class="name" role="cell">
        <a href={hrefOf('frames', [frame.handle])}>{frame.handle}</a>
        {frame.shared === true && <span class="badge">shared</span>}
        {frame.kind === 'view' && <span class="badge">view</span>}
        {frame.ttl !== null && (
          <span class="badge" title="It goes when nobody reads it for a while">
            ttl
          </span>
        )}
        {frame.state === 'damaged' && (
          <span class="frame-damaged" title={frame.damaged ?? ''}>
            <Icon name="warning" />
            <span>damaged: {frame.damaged}</span>
          </span>
        )}
      </div>
      <div class="number" role="cell">
        {frame.rows === null ? '–' : formatCount(frame.rows)}
      </div>
      <div class="number" role="cell">
        {formatBytes(frame.bytes.cold)}
      </div>
      <div class="created" role="cell">
        {frame.created === null ? '–' : formatTime(frame.created)}
      </div>
    </div>
  );
}

/** Arrows go from frame to frame. */
function moveBetweenLinks(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const row = event.target instanceof Element ? event.target.closest('.frame-row') : null;
  const step = event.key === 'ArrowDown' ? 1 : -1;
  const index = Number(row?.getAttribute('aria-rowindex')) + step;
  const next = row?.parentElement?.querySelector<HTMLElement>(`[aria-rowindex="${index}"] a`);
  if (next === null || next === undefined) return;
  event.preventDefault();
  next.focus();
}
