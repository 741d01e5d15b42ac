/** Values as DuckDB writes them when it casts them to text, from the values of Arrow. */

const microsPerSecond = 1_000_000n;
const secondsPerDay = 86_400n;
/** Of a date and of a timestamp, which are infinite. */
const infiniteDays = 2n ** 31n - 1n;
const infinite = 2n ** 63n - 1n;

/** The shortest digits that read back as the same value. */
export function floatText(value: number, bits: 32 | 64): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa = '', power = '0'] = (bits === 64 ? value.toExponential() : shortest32(value)).split('e');
  const exponent = Number(power);
  const sign = value < 0 ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${`${Math.abs(exponent)}`.padStart(2, '0')}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

function shortest32(value: number): string {
  for (let digits = 0; digits < 9; digits++) {
    const text = value.toExponential(digits);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential();
}

/** DuckDB writes no 0 before the point where the type has no digit there. */
export function decimalText(digits: bigint, precision: number, scale: number): string {
  const sign = digits < 0n ? '-' : '';
  const text = `${digits < 0n ? -digits : digits}`.padStart(precision > scale ? scale + 1 : scale, '0');
  return scale === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}

export function dateText(days: bigint): string {
  if (days >= infiniteDays || days <= -infiniteDays) return days < 0n ? '-infinity' : 'infinity';
  const { year, month, day } = civilOf(days);
  // There is no year 0: 1 BC comes before 1 AD.
  const shown = year > 0n ? year : 1n - year;
  const text = `${`${shown}`.padStart(4, '0')}-${two(month)}-${two(day)}`;
  return year > 0n ? text : `${text} (BC)`;
}

/** Since midnight. */
export function timeText(value: bigint, perSecond: bigint): string {
  const seconds = value / perSecond;
  const fraction = fractionText(value % perSecond, perSecond);
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction}`;
}

export function timestampText(value: bigint, perSecond: bigint, hasZone: boolean): string {
  if (value >= infinite || value <= -infinite) return value < 0n ? '-infinity' : 'infinity';
  const perDay = perSecond * secondsPerDay;
  const days = floorDivide(value, perDay);
  const date = dateText(days);
  const time = timeText(value - days * perDay, perSecond);
  const zone = hasZone ? '+00' : '';
  return date.endsWith(' (BC)') ? `${date.slice(0, -5)} (BC) ${time}${zone}` : `${date} ${time}${zone}`;
}

export function intervalText(months: number, days: number, nanoseconds: bigint): string {
  const parts: string[] = [];
  const part = (count: number, unit: string): void => {
    if (count !== 0) parts.push(`${count} ${unit}${Math.abs(count) === 1 ? '' : 's'}`);
  };
  part(Math.trunc(months / 12), 'year');
  part(months % 12, 'month');
  part(days, 'day');
  if (nanoseconds !== 0n || parts.length === 0) {
    const micros = nanoseconds / 1000n;
    parts.push(`${micros < 0n ? '-' : ''}${timeText(micros < 0n ? -micros : micros, microsPerSecond)}`);
  }
  return parts.join(' ');
}

export function blobText(bytes: Uint8Array): string {
  const shown = (byte: number): string => {
    const isPlain = byte >= 32 && byte <= 126 && ![0x22, 0x27, 0x5c].includes(byte);
    return isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  };
  return Array.from(bytes, shown).join('');
}

/** Inside a list, a struct or a map. */
export function nestedText(text: string): string {
  const isPlain = text !== '' && text.trim() === text && text.toLowerCase() !== 'null' && !/["'(),:=[\]{}]/.test(text);
  return isPlain ? text : quoted(text);
}

export function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}

function fractionText(fraction: bigint, perSecond: bigint): string {
  if (fraction === 0n) return '';
  return `.${`${fraction}`.padStart(`${perSecond}`.length - 1, '0').replace(/0+$/, '')}`;
}

/** The day of the Gregorian calendar, also before it was used. */
function civilOf(days: bigint): { year: bigint; month: bigint; day: bigint } {
  // Years that begin in March, in eras of 400 years.
  const shifted = days + 719_468n;
  const era = floorDivide(shifted, 146_097n);
  const dayOfEra = shifted - era * 146_097n;
  const yearOfEra = (dayOfEra - dayOfEra / 1460n + dayOfEra / 36_524n - dayOfEra / 146_096n) / 365n;
  const dayOfYear = dayOfEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n);
  const march = (5n * dayOfYear + 2n) / 153n;
  const month = march < 10n ? march + 3n : march - 9n;
  return {
    year: yearOfEra + era * 400n + (month <= 2n ? 1n : 0n),
    month,
    day: dayOfYear - (153n * march + 2n) / 5n + 1n,
  };
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

function two(value: bigint): string {
  return `${value}`.padStart(2, '0');
}
