export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** Facts beside a message; values are written as JSON. Never a secret, a cold path to a client, or SQL text. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger for one area of the server (`http`, `frames`, `duckdb`, …), filtered by that area's own level. */
  area(name: string): Logger;
}

const ignore = (): void => {};

/** Drops everything. */
export const silentLogger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  area: () => silentLogger,
};
