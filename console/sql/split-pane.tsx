import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { readStored, writeStored } from './kept/stored.ts';

export interface SplitPaneProps {
  /** Under which the browser remembers where it is split. */
  readonly name: string;
  readonly top: ComponentChildren;
  readonly bottom: ComponentChildren;
}

const least = 15;
const most = 85;
const stepPercent = 4;

/** Two panes, one above the other, and a bar between them that can be moved, also by arrow keys. */
export function SplitPane({ name, top, bottom }: SplitPaneProps) {
  const key = `framehold.split.${name}`;
  const pane = useRef<HTMLDivElement>(null);
  const [percent, setPercent] = useState(() => {
    const stored = readStored(key);
    return typeof stored === 'number' && stored >= least && stored <= most ? stored : 38;
  });
  const move = (value: number): void => {
    const next = Math.round(Math.min(most, Math.max(least, value)) * 10) / 10;
    setPercent(next);
    writeStored(key, next);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const box = pane.current?.getBoundingClientRect();
    const bar = event.currentTarget as HTMLElement;
    if (box === undefined || !bar.hasPointerCapture(event.pointerId)) return;
    move(((event.clientY - box.top) / box.height) * 100);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowUp') move(percent - stepPercent);
    else if (event.key === 'ArrowDown') move(percent + stepPercent);
    else return;
    event.preventDefault();
  };
  return (
    <div class="split" ref={pane}>
      <div class="split-top" style={{ flexBasis: `${percent}%` }}>
        {top}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a line cannot be moved */}
      <div
        class="split-bar"
        role="separator"
        tabIndex={0}
        aria-label="Height of the editor"
        aria-orientation="horizontal"
        aria-valuemin={least}
        aria-valuemax={most}
        aria-valuenow={Math.round(percent)}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onPointerMove}
      />
      <div class="split-bottom">{bottom}</div>
    </div>
  );
}
