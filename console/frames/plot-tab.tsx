import { useMemo } from 'preact/hooks';
import { goTo, hrefOf, place } from '../navigation/route.ts';
import { LazyPlotPanel } from '../plot/lazy-plot-panel.tsx';
import { parseSettings, settingsText } from '../plot/settings-link.ts';
import type { Frame } from './frame.ts';

/** The frame drawn; how, stands in the link. */
export function PlotTab({ frame }: { readonly frame: Frame }) {
  const { handle, columns } = frame;
  const settings = useMemo(() => parseSettings(place.peek().parameters.get('plot')), [handle]);
  return (
    <LazyPlotPanel
      key={handle}
      source={{ kind: 'frame', handle, columns: columns ?? [] }}
      settings={settings}
      onSettings={(next) => {
        const parameters = Object.fromEntries(place.peek().parameters);
        goTo(hrefOf('frames', [handle], { ...parameters, plot: settingsText(next) }), { replace: true });
      }}
    />
  );
}
