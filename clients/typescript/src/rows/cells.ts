import { bigintOf, revived } from './exact-json.ts';

/** A column, as an answer describes it. */
export interface Column {
  readonly name: string;
  /** `LONG`, `VARCHAR`, `DECIMAL(10,2)` and so on: docs/reference/types.md. */
  readonly type: string;
  /** Dimensions of an ARRAY. */
  readonly dim?: number | undefined;
  /** What an ARRAY holds. */
  readonly elemType?: string | undefined;
}

type Decode = (cell: unknown) => unknown;

/**
 * Makes a value of a cell of JSON; undefined if it is one already. NULL never comes here. `isExact`: the JSON was read by
 * `parseExactJson`.
 */
export function decoderOf({ type, elemType }: Column, isExact: boolean): Decode | undefined {
  if (type !== 'ARRAY') return scalarDecoder(type, isExact);
  const decode = scalarDecoder(elemType ?? '', isExact);
  return decode && deep(decode);
}

/** Whether its cells may hold whole numbers that JSON.parse would round. */
export function mayRound({ type, elemType }: Column): boolean {
  return /^(LONG|JSON)$/.test(type) || (type === 'ARRAY' && /^(LONG|JSON)$/.test(elemType ?? ''));
}

function scalarDecoder(type: string, isExact: boolean): Decode | undefined {
  if (type === 'LONG' || /^DECIMAL\(\d+,0\)$/.test(type)) return (cell) => bigintOf(cell as string | number);
  if (type === 'JSON') return revived;
  // A whole one may be written without a fraction.
  if (isExact && /^(DOUBLE|FLOAT)$/.test(type))
    return (cell) => Number(typeof cell === 'string' ? bigintOf(cell) : cell);
  return type === 'BINARY' ? (cell) => bytesFromBase64(cell as string) : undefined;
}

function deep(decode: Decode): Decode {
  const decodeAll: Decode = (cell) => {
    if (cell === null) return null;
    return Array.isArray(cell) ? cell.map(decodeAll) : decode(cell);
  };
  return decodeAll;
}

function bytesFromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export function base64Of(bytes: Uint8Array): string {
  let binary = '';
  // An argument for each byte: of many, the stack would overflow.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

/** A name that was there before gets a number, as where SQL reads such columns: `a`, `a_1`. */
function uniqueNames(names: readonly string[]): readonly string[] {
  const taken = new Set(names);
  if (taken.size === names.length) return names;
  const made = new Set<string>();
  for (const name of names) {
    let unique = name;
    for (let number = 1; made.has(unique) || (unique !== name && taken.has(unique)); number++)
      unique = `${name}_${number}`;
    made.add(unique);
  }
  return [...made];
}

/** Makes objects of rows. */
export function rowMaker(columns: readonly Column[]): (cells: readonly unknown[]) => Record<string, unknown> {
  const names = uniqueNames(columns.map(({ name }) => name));
  // An assignment to this name would set the prototype of the object.
  if (names.includes('__proto__')) return (cells) => Object.fromEntries(names.map((name, at) => [name, cells[at]]));
  return (cells) => {
    const row: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at++) row[names[at] as string] = cells[at];
    return row;
  };
}
