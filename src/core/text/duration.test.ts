import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/app-error.ts';
import { parseDurationMs } from './duration.ts';

describe('a duration', () => {
  it.each([
    ['30', 30_000],
    ['0', 0],
    ['1.5', 1500],
    ['500ms', 500],
    ['90s', 90_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['0.5h', 1_800_000],
    ['1.1s', 1100],
  ])('%s is %d ms', (text, expected) => {
    expect(parseDurationMs(text)).toBe(expected);
  });

  it('above zero never becomes zero', () => {
    expect(parseDurationMs('0.0001ms')).toBe(1);
  });

  it.each(['', ' ', '-1', '+1', '5x', 's', '1 s', '1h30m', '1e3', 'Infinity', 'NaN', '36501d', '99999999999999999999'])(
    'is not %j, and the error says what is',
    (text) => {
      let thrown: unknown;
      try {
        parseDurationMs(text);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(AppError);
      expect(thrown).toMatchObject({ code: 'invalid_parameter', message: `${JSON.stringify(text)} is not a duration` });
      expect((thrown as AppError).hint).toContain('15m');
    },
  );
});
