import { write2Digits, writeUint53 } from './digits.ts';

/** `2026-01-31` of days since 1970-01-01; `+10000-01-01` and `-0044-03-15` beyond four digits, year 0 being 1 BC. */
export function writeCalendarDate(out: DataView, at: number, days: number): number {
  // Years begin in March and are in eras of 400, so that leap days are last. From Howard Hinnant,
  // https://howardhinnant.github.io/date_algorithms.html
  const shifted = days + 719468;
  const era = Math.floor(shifted / 146097);
  const dayOfEra = (shifted - era * 146097) | 0;
  const leaps = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36524) | 0) + ((dayOfEra / 146096) | 0);
  const yearOfEra = ((dayOfEra - leaps) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;

  at = writeYear(out, at, yearOfEra + era * 400 + (month <= 2 ? 1 : 0));
  out.setUint8(at, 45);
  at = write2Digits(out, at + 1, month);
  out.setUint8(at, 45);
  return write2Digits(out, at + 1, day);
}

function writeYear(out: DataView, at: number, year: number): number {
  if (year > 9999) {
    out.setUint8(at, 43);
    return writeUint53(out, at + 1, year);
  }
  if (year < 0) {
    out.setUint8(at++, 45);
    year = -year;
    if (year > 9999) return writeUint53(out, at, year);
  }
  const century = (year / 100) | 0;
  return write2Digits(out, write2Digits(out, at, century), year - century * 100);
}
