import { AppError } from '../../core/errors/app-error.ts';
import { type FrameName, isFrameName, parseFrameName } from '../../core/names/frame-name.ts';
import type { JsonValue } from '../../encoding/json/json-text.ts';
import type { FrameSelection } from '../../frames/read/read-frame.ts';
import { decodeUtf8, invalidKey, readJsonKeys } from './json-object.ts';

export interface FrameTarget extends FrameSelection {
  readonly kind: 'frame';
  /** Only while the frame is at this version. */
  readonly version?: number | undefined;
}

/** The rows of a frame, and new ones: a stream without an end. Only of a ticket. */
export interface FollowTarget {
  readonly kind: 'follow';
  readonly handle: FrameName;
  readonly from: number | 'end';
  readonly columns?: readonly string[] | undefined;
  readonly lineage?: string | undefined;
  readonly where?: string | undefined;
}

/** The target of a ticket, or of a descriptor's command. */
export type ReadTarget = FrameTarget | FollowTarget | { readonly kind: 'sql'; readonly sql: string };

const pathPrefix = 'frames/';
const hint =
  'it may be a handle, frames/<handle>, <owner>/<handle>, {"handle":…,"columns":[…],"from":…,"to":…}, {"handle":…,"from":…,"follow":true}, {"sql":…}, or the text of an SQL statement';

export function wholeFrame(handle: FrameName): FrameTarget {
  return { kind: 'frame', handle, from: 0, to: Infinity };
}

/** `what` names the bytes in errors, e.g. "the ticket". Those of Flight SQL are not read here. */
export function parseReadTarget(bytes: Uint8Array, what: string): ReadTarget {
  const text = decodeUtf8(bytes);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary from text
  if (text === undefined || /[\0-\x08\x0e-\x1f]/.test(text) || text.includes('type.googleapis.com/arrow.')) {
    throw new AppError('invalid_parameter', `${what} is not understood`, { hint });
  }
  if (isFrameName(text)) return wholeFrame(text);
  if (text.startsWith(pathPrefix)) return wholeFrame(parseFrameName(text.slice(pathPrefix.length)));
  if (text.trimStart().startsWith('{')) return parseSelection(text, what);
  if (/\s/.test(text.trim())) return { kind: 'sql', sql: text };
  throw new AppError('invalid_handle', `${what} ${JSON.stringify(text.slice(0, 140))} is not a handle`, { hint });
}

function parseSelection(text: string, what: string): ReadTarget {
  const given = readJsonKeys(
    text,
    ['handle', 'version', 'columns', 'from', 'to', 'follow', 'lineage', 'where', 'sql'],
    what,
  );
  if (given.sql !== undefined) {
    if (typeof given.sql !== 'string') throw invalidKey(what, 'sql', given.sql, 'text');
    if (Object.keys(given).length > 1) {
      throw new AppError('ambiguous_mode', `${what} has sql and other keys`, { hint: 'let the SQL select the rows' });
    }
    return { kind: 'sql', sql: given.sql };
  }
  const { handle, columns } = given;
  if (handle === undefined) throw new AppError('missing_parameter', `${what} has neither handle nor sql`);
  if (typeof handle !== 'string') throw invalidKey(what, 'handle', handle, 'text');
  if (columns !== undefined && !isColumnList(columns)) {
    throw invalidKey(what, 'columns', columns, 'a list of at least one column name');
  }
  if (isFollow(given.follow, what)) {
    if (given.to !== undefined || given.version !== undefined) {
      throw new AppError('ambiguous_mode', `${what} has follow and a last row or a version`, {
        hint: 'what is followed has no end, and grows by versions; lineage tells whether its rows were replaced',
      });
    }
    const { lineage, where } = given;
    if (where !== undefined && typeof where !== 'string') throw invalidKey(what, 'where', where, 'text');
    if (lineage !== undefined && typeof lineage !== 'string') throw invalidKey(what, 'lineage', lineage, 'text');
    const from = given.from === 'end' ? 'end' : (wholeNumber(given.from, 'from', what) ?? 0);
    return { kind: 'follow', handle: parseFrameName(handle), from, columns, lineage, where };
  }
  for (const key of ['lineage', 'where'] as const) {
    if (given[key] !== undefined) throw invalidKey(what, key, given[key], 'left out without follow');
  }
  const from = wholeNumber(given.from, 'from', what) ?? 0;
  const to = wholeNumber(given.to, 'to', what) ?? Infinity;
  if (to < from) throw invalidKey(what, 'to', to, `at least from (${from})`);
  const version = wholeNumber(given.version, 'version', what);
  return { kind: 'frame', handle: parseFrameName(handle), version, columns, from, to };
}

function isFollow(value: JsonValue | undefined, what: string): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true;
  throw invalidKey(what, 'follow', value, 'true or false');
}

/** A stream without an end has no FlightInfo: clients would collect it for ever. */
export function onlyInDoGet(what: string): AppError {
  return new AppError('invalid_parameter', `${what} has follow, which is for tickets of DoGet`, {
    hint: 'call DoGet with it as the ticket',
  });
}

function isColumnList(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string');
}

function wholeNumber(value: JsonValue | undefined, key: string, what: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidKey(what, key, value, 'a whole number of 0 or more');
}

/** The ticket of a selection: the handle itself where that says everything. */
export function ticketOf({ handle, version, columns, from, to }: FrameTarget): Uint8Array {
  if (version === undefined && columns === undefined && from === 0 && to === Infinity) return Buffer.from(handle);
  const range = { ...(from > 0 && { from }), ...(to !== Infinity && { to }) };
  return Buffer.from(JSON.stringify({ handle, version, columns, ...range }));
}
