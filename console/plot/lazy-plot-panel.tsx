import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api/api-error.ts';
import type { PlotPanelProps } from './plot-panel.tsx';

let loaded: ComponentType<PlotPanelProps> | undefined;

/** The panel, loaded when the first one is shown. */
export function LazyPlotPanel(props: PlotPanelProps) {
  const [Panel, setPanel] = useState<{ readonly Component: ComponentType<PlotPanelProps> } | undefined>(
    loaded && { Component: loaded },
  );
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (loaded !== undefined) return;
    import('./plot-panel.tsx').then(({ PlotPanel }) => {
      loaded = PlotPanel;
      setPanel({ Component: PlotPanel });
    }, setError);
  }, []);
  if (error !== undefined) return <p class="error">{messageOf(error)}</p>;
  return Panel === undefined ? <div class="empty" aria-busy="true" /> : <Panel.Component {...props} />;
}
