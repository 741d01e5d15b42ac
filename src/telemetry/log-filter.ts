import type { LogLevel } from '../core/logs/logger.ts';

/** From the most to the least that is written. */
export const logThresholds = ['trace', 'debug', 'info', 'warn', 'error', 'off'] as const satisfies readonly (
  | LogLevel
  | 'off'
)[];

export type LogThreshold = (typeof logThresholds)[number];

export interface LogFilter {
  readonly level: LogThreshold;
  /** Areas with a level of their own. */
  readonly areas: Readonly<Record<string, LogThreshold>>;
}

/** A level in any case, or directives by area as in RUST_LOG: `warn,http=debug`. Areas that no directive names get `info`. */
export function parseLogFilter(text: string): LogFilter | undefined {
  let level: LogThreshold = 'info';
  const areas: [string, LogThreshold][] = [];
  for (const directive of text.split(',')) {
    const match = /^(?:([\w:.-]+)\s*=\s*)?(\w+)$/.exec(directive.trim());
    const threshold = logThresholds.find((each) => each === match?.[2]?.toLowerCase());
    if (threshold === undefined) return undefined;
    if (match?.[1] === undefined) level = threshold;
    else areas.push([match[1], threshold]);
  }
  return { level, areas: Object.fromEntries(areas) };
}

export function thresholdFor(filter: LogFilter, area: string): LogThreshold {
  return (Object.hasOwn(filter.areas, area) ? filter.areas[area] : undefined) ?? filter.level;
}
