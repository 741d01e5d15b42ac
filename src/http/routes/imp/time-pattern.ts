import { invalidParameter } from '../../exchange/parameters.ts';

/** ISO 8601, which is read in all its forms without a pattern: with or without fraction, `Z` or an offset. */
const iso = /^yyyy-MM-dd(?:(?:T|'T'| )HH:mm:ss(?:\.(?:SSS(?:UUU(?:NNN)?)?|[SUN]\+))?(?:Z|z|x{1,3})?)?$/;

const tokens =
  /'([^']*)'|SSSUUUNNN|SSSUUU|SSS|[SUN]\+|y+|M{1,4}|dd?|EEEE|E{1,3}|HH?|hh?|mm?|ss?|a+|x{1,3}|z+|Z|([A-Za-z])|([^A-Za-z']+)/g;

const letters: Readonly<Record<string, string>> = {
  SSSUUUNNN: '%n',
  SSSUUU: '%f',
  SSS: '%g',
  'S+': '%g',
  'U+': '%f',
  'N+': '%n',
  y: '%Y',
  yy: '%y',
  yyyy: '%Y',
  M: '%-m',
  MM: '%m',
  MMM: '%b',
  MMMM: '%B',
  d: '%-d',
  dd: '%d',
  E: '%a',
  EE: '%a',
  EEE: '%a',
  EEEE: '%A',
  H: '%-H',
  HH: '%H',
  h: '%-I',
  hh: '%I',
  m: '%-M',
  mm: '%M',
  s: '%-S',
  ss: '%S',
  a: '%p',
  x: '%z',
  xx: '%z',
  xxx: '%z',
  z: '%Z',
  zz: '%Z',
  zzz: '%Z',
  Z: 'Z',
  T: 'T',
};

/** A strptime pattern from one in QuestDB's letters, or in strptime's own (with `%`). Undefined: ISO 8601. */
export function timeFormatOf(pattern: string): string | undefined {
  if (pattern.includes('%')) return pattern;
  if (iso.test(pattern)) return undefined;
  if ((pattern.match(/'/g)?.length ?? 0) % 2 === 1) throw invalidParameter('pattern', pattern, "a quote ' has no end");
  return pattern.replaceAll(tokens, (token: string, quoted?: string, _letter?: string, other?: string) => {
    if (quoted !== undefined) return quoted === '' ? "'" : quoted;
    if (other !== undefined) return other;
    const format = letters[token];
    if (format !== undefined) return format;
    throw invalidParameter(
      'pattern',
      pattern,
      `${token} is not known: use yyyy MM dd HH mm ss SSS SSSUUU a z x, other letters in '…', or strptime's %Y-%m-%d`,
    );
  });
}

/** Whether there is more to it than a day. */
export function hasTimeOfDay(timeFormat: string): boolean {
  return /%-?[HIMSfgnpcX]/.test(timeFormat);
}
