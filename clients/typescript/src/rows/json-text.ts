import { base64Of } from './cells.ts';

/** The form of values that JSON cannot write. */
export interface ValueForms {
  bytes(base64: string): unknown;
  date(iso: string): unknown;
  /** `NaN`, `Infinity`, `-Infinity`. */
  notFinite(name: string): unknown;
}

/** JSON, where a bigint is a number with all its digits. Throws a TypeError for other things than values, such as a function. */
export function jsonText(value: unknown, forms: ValueForms, path = 'the value'): string {
  switch (typeof value) {
    case 'bigint':
      return String(value);
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(forms.notFinite(String(value)));
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'undefined':
      return 'null';
    case 'object':
      return objectText(value, forms, path);
    default:
      throw new TypeError(`${path} is a ${typeof value}, which cannot be sent`);
  }
}

function objectText(value: object | null, forms: ValueForms, path: string): string {
  if (value === null) return 'null';
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError(`${path} is an invalid Date`);
    return JSON.stringify(forms.date(value.toISOString()));
  }
  if (value instanceof Uint8Array) return JSON.stringify(forms.bytes(base64Of(value)));
  if (Array.isArray(value)) return `[${value.map((each, at) => jsonText(each, forms, `${path}[${at}]`)).join(',')}]`;
  if (ArrayBuffer.isView(value) && 'length' in value) return objectText(Array.from(value as never), forms, path);
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${JSON.stringify(name)}:${jsonText(each, forms, `${path}.${name}`)}`);
  return `{${members.join(',')}}`;
}

/** Of the parameters of a statement. A Date is a TIMESTAMP in UTC. */
export const parameterForms: ValueForms = {
  bytes: (base64) => ({ type: 'BLOB', value: base64 }),
  date: (iso) => ({ type: 'TIMESTAMP', value: iso.replace(/Z$/, '') }),
  notFinite: (name) => ({ type: 'DOUBLE', value: name }),
};

/** Of rows that are put or appended. */
export const rowForms: ValueForms = {
  bytes: (base64) => base64,
  date: (iso) => iso,
  notFinite: (name) => name,
};
