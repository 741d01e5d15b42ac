import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '../api/api-error.ts';
import { followRows } from './follow-rows.ts';
import { type PlotAnswer, type PlotSize, type PlotSource, requestPlot, type XRange } from './plot-answer.ts';
import type { PlotSettings } from './plot-settings.ts';

export interface PlotState {
  /** The last answer, also while the next one is waited for. */
  readonly plot: PlotAnswer | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
}

/** A size that changes is waited for until it stays. */
const settleMs = 200;

/** Asks the server for the plot, and again whenever something of the question is another. */
export function usePlot(
  source: PlotSource,
  settings: PlotSettings,
  size: PlotSize | undefined,
  range: XRange | undefined,
  refreshes: number,
): PlotState {
  const [state, setState] = useState<PlotState>({ plot: undefined, error: undefined, isBusy: true });
  const { kind, x, y, series, aggregate } = settings;
  const where = source.kind === 'frame' ? ['frame', source.handle] : ['sql', source.sql, source.engine, source.params];
  const question = JSON.stringify([where, kind, x, y, series, aggregate, range, refreshes]);
  const asked = useRef('');
  const isKnown = size !== undefined;
  useEffect(() => {
    if (size === undefined) return;
    const controller = new AbortController();
    const ask = async (): Promise<void> => {
      asked.current = question;
      setState((before) => ({ ...before, isBusy: true }));
      try {
        const plot = await requestPlot(source, settings, size, range, controller.signal);
        setState({ plot, error: undefined, isBusy: false });
      } catch (error) {
        if (!isAbort(error)) setState({ plot: undefined, error, isBusy: false });
      }
    };
    const timer = setTimeout(() => void ask(), asked.current === question ? settleMs : 0);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [question, isKnown, size?.width, size?.height]);
  return state;
}

/** Follows a frame while it grows. */
export function useFollowedRows(
  source: PlotSource,
  settings: PlotSettings,
  isFollowing: boolean,
  onRows: (greatest: number | undefined) => void,
): void {
  const current = useRef(onRows);
  current.current = onRows;
  const handle = source.kind === 'frame' ? source.handle : undefined;
  useEffect(() => {
    if (!isFollowing || source.kind !== 'frame') return;
    const controller = new AbortController();
    void followRows(source, settings, (greatest) => current.current(greatest), controller.signal);
    return () => controller.abort();
  }, [isFollowing, handle, settings.x]);
}
