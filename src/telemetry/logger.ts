import type { LogFields, Logger, LogLevel } from '../core/logs/logger.ts';
import { type LogFilter, logThresholds, thresholdFor } from './log-filter.ts';
import { jsonLine, type LogFormat, prettyLine } from './log-line.ts';

export interface LoggerOptions {
  readonly stream: { write(text: string): unknown };
  readonly filter: LogFilter;
  readonly format: LogFormat;
  /** For pretty lines. Default false. */
  readonly colour?: boolean;
  readonly now?: () => Date;
}

type LogWriters = Pick<Logger, LogLevel>;

/** A logger whose level and form may change. */
export interface RootLogger extends Logger {
  configure(options: Pick<LoggerOptions, 'filter' | 'format'>): void;
}

const ignore = (): void => {};

/** Never throws: a log that cannot be written is lost. A stream's own `error` events are its owner's. */
export function createLogger(options: LoggerOptions): RootLogger {
  let current = options;
  const areas = new Map<string, Logger>();
  const area = (name: string): Logger => {
    const known = areas.get(name) ?? { ...logWriters(name, current), area };
    areas.set(name, known);
    return known;
  };
  const configure: RootLogger['configure'] = (changed) => {
    current = { ...current, ...changed };
    for (const [name, logger] of areas) Object.assign(logger, logWriters(name, current));
  };
  const root: RootLogger = { ...logWriters('', options), area, configure };
  areas.set('', root);
  return root;
}

function logWriters(area: string, options: LoggerOptions): LogWriters {
  const { stream, filter, format, colour = false, now = () => new Date() } = options;
  const threshold = logThresholds.indexOf(thresholdFor(filter, area));
  const writer = (level: LogLevel) => {
    if (logThresholds.indexOf(level) < threshold) return ignore;
    return (message: string, fields?: LogFields): void => {
      try {
        const record = { time: now(), level, area, message, fields };
        stream.write(format === 'json' ? jsonLine(record) : prettyLine(record, { colour }));
      } catch {
        // There is no place left to report it.
      }
    };
  };
  return {
    trace: writer('trace'),
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
}
