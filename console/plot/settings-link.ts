import { aggregates, type PlotSettings, plotKinds } from './plot-settings.ts';

/** Settings as they stand in a link. */
export function settingsText(settings: PlotSettings): string {
  const { kind, x, y, series, aggregate, logX, logY, zone } = settings;
  return JSON.stringify({
    kind,
    x,
    y,
    ...(series !== '' && { series }),
    ...(aggregate !== 'avg' && { aggregate }),
    ...(logX && { logX }),
    ...(logY && { logY }),
    ...(zone !== 'utc' && { zone }),
  });
}

/** Undefined where the text is none of ours. */
export function parseSettings(text: string | null): PlotSettings | undefined {
  if (text === null || text === '') return undefined;
  try {
    const given = JSON.parse(text) as Partial<Record<keyof PlotSettings, unknown>> | null;
    const kind = plotKinds.find((each) => each === given?.kind);
    if (given === null || kind === undefined) return undefined;
    const y = Array.isArray(given.y) ? given.y.filter((name): name is string => typeof name === 'string') : [];
    return {
      kind,
      x: typeof given.x === 'string' ? given.x : '',
      y,
      series: typeof given.series === 'string' ? given.series : '',
      aggregate: aggregates.find((each) => each === given.aggregate) ?? 'avg',
      logX: given.logX === true,
      logY: given.logY === true,
      zone: given.zone === 'local' ? 'local' : 'utc',
    };
  } catch {
    return undefined;
  }
}
