/**
 * ISO 8601 with a sign on each component, as in java.time: `P1Y2M3DT4H5M6.789S`, `P-1D`, `PT-1H-0.5S`. Months fill years and
 * nanoseconds fill hours; days stay days, for not every day has 24 hours.
 */
export function isoDuration(months: number, days: number, nanoseconds: bigint): string {
  const date = part(Math.trunc(months / 12), 'Y') + part(months % 12, 'M') + part(days, 'D');
  const wholeSeconds = Number(nanoseconds / 1_000_000_000n);
  const minutes = Math.trunc(wholeSeconds / 60);
  const time = part(Math.trunc(minutes / 60), 'H') + part(minutes % 60, 'M') + seconds(nanoseconds % 60_000_000_000n);
  if (time !== '') return `P${date}T${time}`;
  return date === '' ? 'PT0S' : `P${date}`;
}

function part(amount: number, designator: string): string {
  return amount === 0 ? '' : `${amount}${designator}`;
}

function seconds(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${sign}${size / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}S`;
}
