import type { Column } from '#client/rows/cells.ts';
import type { TextCell } from '../terminal/text-table.ts';

/** A result in the form of /sql and /exec. Numbers keep their digits, nested values their JSON. */
export interface ResultTable {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly TextCell[])[];
  /** The fields beside the rows: `count`, or of a statement without rows its outcome. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** JSON.parse would round integers beyond 2^53, so cells are taken as they stand in the text. */
export function readResult(json: string): ResultTable {
  const facts: Record<string, unknown> = {};
  let columns: readonly Column[] = [];
  let rows: readonly (readonly TextCell[])[] = [];
  for (const [key, from, to] of members(json, skipSpace(json, 0))) {
    if (key === 'dataset') rows = elements(json, from).map(([rowFrom]) => elements(json, rowFrom).map(cellOf(json)));
    else if (key === 'columns') columns = JSON.parse(json.slice(from, to)) as readonly Column[];
    else facts[key] = JSON.parse(json.slice(from, to));
  }
  return { columns, rows, facts };
}

function cellOf(json: string): (range: readonly [number, number]) => TextCell {
  return ([from, to]) => {
    const text = json.slice(from, to);
    if (text === 'null') return null;
    return text.startsWith('"') ? (JSON.parse(text) as string) : text;
  };
}

function members(json: string, at: number): (readonly [string, number, number])[] {
  const found: (readonly [string, number, number])[] = [];
  let from = skipSpace(json, at + 1);
  while (json[from] === '"') {
    const keyEnd = endOfValue(json, from);
    const valueFrom = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const valueTo = endOfValue(json, valueFrom);
    found.push([JSON.parse(json.slice(from, keyEnd)) as string, valueFrom, valueTo]);
    from = afterComma(json, valueTo);
  }
  return found;
}

function elements(json: string, at: number): (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  let from = skipSpace(json, at + 1);
  while (from < json.length && json[from] !== ']') {
    const to = endOfValue(json, from);
    found.push([from, to]);
    from = afterComma(json, to);
  }
  return found;
}

function afterComma(json: string, at: number): number {
  const next = skipSpace(json, at);
  return json[next] === ',' ? skipSpace(json, next + 1) : next;
}

const space = /\s*/y;
const string = /"(?:[^"\\]|\\.)*"/y;
const atom = /[^\s,\]}]+/y;

function skipSpace(json: string, at: number): number {
  space.lastIndex = at;
  space.exec(json);
  return space.lastIndex;
}

function endOfValue(json: string, at: number): number {
  const first = json[at];
  if (first !== '{' && first !== '[') return endOf(first === '"' ? string : atom, json, at);
  let depth = 0;
  for (let next = at; next < json.length; next++) {
    const character = json[next];
    if (character === '"') next = endOf(string, json, next) - 1;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return next + 1;
  }
  throw new SyntaxError('the result ends early');
}

function endOf(pattern: RegExp, json: string, at: number): number {
  pattern.lastIndex = at;
  if (pattern.exec(json) === null) throw new SyntaxError(`the result is not JSON at ${at}`);
  return pattern.lastIndex;
}
