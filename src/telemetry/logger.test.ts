import { describe, expect, it } from 'vitest';
import { AppError } from '../core/errors/app-error.ts';
import { parseLogFilter } from './log-filter.ts';
import { createLogger, type LoggerOptions } from './logger.ts';

function capture(filter: string, options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    stream: { write: (text) => lines.push(text) },
    filter: parseLogFilter(filter) ?? { level: 'off', areas: {} },
    format: 'json',
    now: () => new Date('2026-01-31T12:00:00.123Z'),
    ...options,
  });
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line)) };
}

describe('a JSON log line', () => {
  it('has time, level, area and message before the fields', () => {
    const { logger, lines } = capture('info');
    logger.area('http').info('request done', { status: 200, handle: 'trades' });
    expect(lines).toEqual([
      '{"time":"2026-01-31T12:00:00.123Z","level":"info","area":"http","msg":"request done","status":200,"handle":"trades"}\n',
    ]);
  });

  it('keeps its own keys when a field has the same name', () => {
    const { logger, parsed } = capture('info');
    logger.area('http').info('hello', { level: 5, msg: 'other', time: 0, area: 'x' });
    expect(parsed()[0]).toMatchObject({ level: 'info', msg: 'hello', area: 'http', time: '2026-01-31T12:00:00.123Z' });
  });

  it('tells an error with code, stack and cause', () => {
    const { logger, parsed } = capture('info');
    const cause = new TypeError('inner');
    logger.error('failed', { error: new AppError('internal', 'outer', { cause }) });
    expect(parsed()[0].error).toMatchObject({
      name: 'AppError',
      message: 'outer',
      code: 'internal',
      stack: expect.stringContaining('logger.test.ts'),
      cause: { name: 'TypeError', message: 'inner' },
    });
  });

  it('survives a cause that leads back to itself', () => {
    const { logger, parsed } = capture('info');
    const error = new Error('round');
    error.cause = error;
    logger.error('failed', { error });
    expect(parsed()[0].error.message).toBe('round');
  });

  it('is one line whatever the message holds', () => {
    const { logger, lines } = capture('info');
    logger.info('a\nb');
    expect(lines[0]?.trimEnd()).not.toContain('\n');
  });

  it('writes a bigint, and says so where a value cannot be written', () => {
    const { logger, lines, parsed } = capture('info');
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    logger.info('big', { rows: 2n ** 64n });
    logger.info('circular', { circular });
    expect(lines[0]).toContain('"rows":"18446744073709551616"');
    expect(parsed()[1]).toMatchObject({ msg: 'circular', fields: expect.stringContaining('not writable') });
  });
});

describe('a pretty log line', () => {
  it('reads from left to right', () => {
    const { logger, lines } = capture('info', { format: 'pretty' });
    logger.area('http').warn('slow reader', { handle: 'trades', client: 'a b', gone: undefined });
    expect(lines).toEqual(['12:00:00.123  WARN   http  slow reader  handle=trades  client="a b"\n']);
  });

  it('is followed by the stack of an error and of its cause', () => {
    const { logger, lines } = capture('info', { format: 'pretty' });
    logger.error('failed', { error: new Error('outer', { cause: new Error('inner') }) });
    expect(lines[0]).toMatch(/failed {2}error="outer"\n {4}Error: outer\n(.*\n)+ {4}caused by Error: inner\n/);
  });

  it('lets no client draw lines or colours', () => {
    const { logger, lines } = capture('info', { format: 'pretty' });
    logger.info('a\nb\x1b[31m\x9b', { field: 'c\nd\x9b' });
    expect(lines[0]).toBe('12:00:00.123  INFO   a\\nb\\u001b[31m\\u009b  field="c\\nd\\u009b"\n');
  });
});

describe('the filter', () => {
  it('writes a level and all above it', () => {
    const { logger, parsed } = capture('WARN');
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) logger[level](level);
    expect(parsed().map(({ msg }) => msg)).toEqual(['warn', 'error']);
  });

  it('takes directives by area as RUST_LOG does', () => {
    const { logger, parsed } = capture('warn, http=debug,frames=off');
    for (const area of ['http', 'frames', 'duckdb']) {
      logger.area(area).debug('debug');
      logger.area(area).error('error');
    }
    expect(parsed().map(({ area, msg }) => `${area} ${msg}`)).toEqual(['http debug', 'http error', 'duckdb error']);
  });

  it('logs at info where directives name no level for the rest', () => {
    expect(parseLogFilter('http=debug')).toEqual({ level: 'info', areas: { http: 'debug' } });
  });

  it('does nothing at all for a level that is off', () => {
    const { logger } = capture('info');
    expect(logger.debug).toBe(logger.area('http').trace);
  });

  it.each(['loud', 'http=', '=debug', 'info,', 'http=loud', ''])('is not %j', (text) => {
    expect(parseLogFilter(text)).toBeUndefined();
  });
});

describe('a logger', () => {
  it('and those of areas that were made before take another level and form', () => {
    const lines: string[] = [];
    const logger = createLogger({
      stream: { write: (line: string) => lines.push(line) },
      filter: { level: 'info', areas: {} },
      format: 'json',
    });
    const http = logger.area('http');
    http.debug('one');
    logger.configure({ filter: { level: 'error', areas: { http: 'debug' } }, format: 'pretty' });
    http.debug('two');
    logger.info('three');
    logger.area('later').error('four');
    expect(lines).toEqual([expect.stringMatching(/^[^{].*two/), expect.stringMatching(/four/)]);
  });

  it('is the same one each time an area is asked for', () => {
    const { logger } = capture('info');
    expect(logger.area('http')).toBe(logger.area('frames').area('http'));
  });

  it('never throws, not even when its stream does', () => {
    const { logger } = capture('info', {
      stream: {
        write: () => {
          throw new Error('EPIPE');
        },
      },
    });
    expect(() => logger.error('lost')).not.toThrow();
  });
});
