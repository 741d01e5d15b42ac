import { AppError } from '../core/errors/app-error.ts';
import type { AxisKind } from './plot-columns.ts';
import type { RangeEnd } from './plot-spec.ts';

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?)?\s*(Z|[+-]\d{2}:?\d{2})?$/;
const clock = /^(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?$/;

/** µs since 1970 of a time as our answers write it; undefined where it is none. */
export function microseconds(text: string): number | undefined {
  const parts = isoTime.exec(text);
  if (parts === null) return ofDay(text);
  const [, day, time = '00:00:00', fraction = '', zone = 'Z'] = parts;
  const ms = Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

function ofDay(text: string): number | undefined {
  const parts = clock.exec(text);
  if (parts === null) return undefined;
  const [, hours, minutes, seconds, fraction = ''] = parts;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return whole * 1_000_000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** An end of a range as a number of the axis. */
export function axisValue(end: RangeEnd, kind: AxisKind, key: string): number {
  const value = typeof end === 'string' ? textValue(end, kind) : Number(end);
  if (value !== undefined && Number.isFinite(value)) return value;
  const shown = JSON.stringify(String(end).slice(0, 100));
  throw new AppError('invalid_parameter', `${key} ${shown} is not a value of x`, {
    hint: kind === 'time' ? 'give µs since 1970, or a time such as 2026-01-31T12:00:00Z' : 'give a number',
  });
}

function textValue(text: string, kind: AxisKind): number | undefined {
  const trimmed = text.trim();
  if (kind === 'time') {
    const us = microseconds(trimmed);
    if (us !== undefined) return us;
  }
  return trimmed === '' ? undefined : Number(trimmed);
}
