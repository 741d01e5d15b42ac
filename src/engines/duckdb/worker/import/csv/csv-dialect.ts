import { AppError } from '../../../../../core/errors/app-error.ts';
import type { CsvOptions, TextOptions } from '../../../../../core/rows/frame-engine.ts';
import { textFault } from '../text/text-encoding.ts';
import { KindFinder, type TextKind } from '../text/text-kind.ts';
import { invalidRow } from '../text/text-rejections.ts';
import { csvFaults, csvFields } from './csv-records.ts';
import { type CsvSample, sampledRecords } from './csv-sample.ts';

export interface CsvDialect {
  readonly delimiter: string;
  readonly hasHeader: boolean;
  /** Lines of nothing before the first record. */
  readonly blankLines: number;
  /** Names of the columns, as the header has them; made up where it has none. */
  readonly names: readonly string[];
  /** Whether there are line ends inside the first record, which DuckDB takes for those of the file. */
  readonly beginsWithLineEnds: boolean;
  /** The kind of the values of each column so far. */
  readonly kinds: readonly (TextKind | 'text' | undefined)[];
}

const delimiters = [',', ';', '\t', '|'] as const;
/** Records that are looked at to find the delimiter. */
const comparedRecords = 200;
const noName = /^(?:|-|n\/?a|nan|null|none|unknown|\?)$/i;

/** Detects the CSV dialect of a file from its beginning. */
export function csvDialect(sample: CsvSample, options: CsvOptions & Pick<TextOptions, 'like'>): CsvDialect {
  const delimiter = options.delimiter === undefined ? likelyDelimiter(sample) : checkedDelimiter(options.delimiter);
  const rows = sampledRows(sample, delimiter);
  const [first, ...others] = rows;
  if (first === undefined) {
    throw invalidRow({ line: sample.blankLines + 1, column: undefined, reason: csvFaults.unclosedQuote });
  }
  const kinds = kindsOf(others, first.length);
  const hasHeader = options.hasHeader ?? looksLikeHeader(first, others[0], kinds, options.like);
  return {
    delimiter,
    hasHeader,
    blankLines: sample.blankLines,
    beginsWithLineEnds: first.some((field) => /[\r\n]/.test(field ?? '')),
    names: hasHeader ? namedColumns(first) : first.map((_, index) => `column${index + 1}`),
    kinds: hasHeader ? kinds : kindsOf(rows, first.length),
  };
}

/** Rows with unambiguous fields. The first row must be one: it gives the number of columns. */
function sampledRows(sample: CsvSample, delimiter: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  const isAllText = textFault(sample.bytes) === undefined;
  for (const { start, end, fields, endsWithEmptyField, fault } of sampledRecords(
    sample,
    delimiter.charCodeAt(0),
    Number.POSITIVE_INFINITY,
  )) {
    const bytes = sample.bytes.subarray(start, end);
    const [first] = rows;
    if (first === undefined) {
      const reason = fault === undefined ? textFault(bytes) : csvFaults[fault];
      if (reason !== undefined) throw invalidRow({ line: sample.blankLines + 1, column: undefined, reason });
    } else {
      const isRow = fields === first.length || (fields === first.length + 1 && endsWithEmptyField);
      if (fault !== undefined || !isRow || (end === start && fields > 1)) continue;
      if (!isAllText && textFault(bytes) !== undefined) continue;
    }
    rows.push(csvFields(bytes.toString(), delimiter));
  }
  return rows;
}

function checkedDelimiter(delimiter: string): string {
  if (/^[^\P{ASCII}"\r\n\0]$/u.test(delimiter)) return delimiter;
  throw new AppError('invalid_parameter', `the delimiter ${JSON.stringify(delimiter)} cannot be used`, {
    hint: 'it is one ASCII character and neither a quote nor a line end',
  });
}

/** The delimiter that cuts most records into as many fields as the first, and into more than one. */
function likelyDelimiter(sample: CsvSample): string {
  let best = { delimiter: ',', share: 0, fields: 1 };
  for (const delimiter of delimiters) {
    const counts = [...sampledRecords(sample, delimiter.charCodeAt(0), comparedRecords)]
      .filter((record) => record.end > record.start)
      .map((record) => record.fields);
    const [fields = 0] = counts;
    const share = counts.filter((count) => count === fields).length / Math.max(1, counts.length);
    if (fields > 1 && (share > best.share || (share === best.share && fields > best.fields))) {
      best = { delimiter, share, fields };
    }
  }
  return best.delimiter;
}

function kindsOf(rows: readonly (readonly (string | null)[])[], columns: number): CsvDialect['kinds'] {
  return Array.from({ length: columns }, (_, column) => {
    const finder = new KindFinder();
    for (const row of rows) {
      const text = row[column];
      if (text != null) finder.add(text);
    }
    return finder.kind;
  });
}

/** Names are text; beside text, years may be names too. A line of other values may be a row, and would be lost as names. */
function looksLikeHeader(
  first: readonly (string | null)[],
  second: readonly (string | null)[] | undefined,
  kinds: CsvDialect['kinds'],
  like: TextOptions['like'],
): boolean {
  if (like?.every((column) => first.includes(column.name))) return true;
  if (first.every((name) => noName.test(name ?? ''))) return false;
  const own = first.map((name) => kindOf(name ?? ''));
  if (own.every((kind) => kind === 'text')) return true;
  if (own.every((kind) => kind !== 'text')) return false;
  const isOverValues = (index: number): boolean => kinds[index] !== 'text' && kinds[index] !== undefined;
  const standsOut = own.some(
    (kind, index) => kind === 'text' && !noName.test(first[index] ?? '') && isOverValues(index),
  );
  const isYear = (name: string | null | undefined): boolean => /^(?:19|20)[0-9]{2}$/.test(name ?? '');
  return own.every((kind, index) => {
    if (kind === 'text') return true;
    return standsOut ? kind === 'bigint' : isYear(first[index]) && second !== undefined && !isYear(second[index]);
  });
}

function kindOf(text: string): TextKind | 'text' | undefined {
  const finder = new KindFinder();
  finder.add(text);
  return finder.kind;
}

function namedColumns(header: readonly (string | null)[]): string[] {
  const taken = new Set(header);
  return header.map((name, index) => {
    if (name !== null && name !== '') return name;
    let made = `column${index + 1}`;
    while (taken.has(made)) made = `${made}_`;
    taken.add(made);
    return made;
  });
}
