import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileImports, type Imported } from '../../../test/support/file-imports.ts';
import type { DataType } from '../../core/data-type.ts';
import { sqlTypeName } from '../../encoding/sql-types/sql-type-name.ts';

let files: FileImports;
beforeAll(async () => {
  files = await FileImports.open();
});
afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

function json(content: string, type: DataType, skipsBadRows = false): Promise<Imported> {
  return files.import(content, { kind: 'json', skipsBadRows, like: [{ name: 'v', type }] });
}

function csv(value: string, type: DataType): Promise<Imported> {
  const content = `v\n"${value.replaceAll('"', '""')}"\n`;
  return files.import(content, {
    kind: 'csv',
    skipsBadRows: false,
    hasHeader: true,
    delimiter: ',',
    like: [{ name: 'v', type }],
  });
}

const int32 = { kind: 'int', bits: 32, signed: true } as const;
const int8 = { kind: 'int', bits: 8, signed: true } as const;
const utf8 = { kind: 'utf8' } as const;
const double = { kind: 'float', bits: 64 } as const;
const binary = { kind: 'binary' } as const;
const date = { kind: 'date' } as const;
const timestamp = { kind: 'timestamp', unit: 'us', zoned: false } as const;
const decimal = (precision: number, scale: number): DataType => ({ kind: 'decimal', precision, scale });
const list = (element: DataType): DataType => ({ kind: 'list', element });
const map = (key: DataType, value: DataType): DataType => ({ kind: 'map', key, value });
function struct(fields: Readonly<Record<string, DataType>>): DataType {
  return { kind: 'struct', fields: Object.entries(fields).map(([name, type]) => ({ name, type })) };
}

/** The text, and the value as it is shown, where that differs. */
const fitting: readonly (readonly [DataType, string, unknown?])[] = [
  [list(int32), '[1,null,-3]'],
  [list(int32), '[]'],
  [list(int32), '["007",1.0]', [7, 1]],
  [list(list(int32)), '[[1],[],null,[null]]'],
  [list(utf8), '["x","","null","[1]","\\u0001\\"\\\\1",null]'],
  [list(utf8), '[1.50,true,12345678901234567890.10]', ['1.50', 'true', '12345678901234567890.10']],
  [list(double), '[-0.0,1e22,0.1]'],
  [list(decimal(38, 20)), '[123456789.12345678901234567890]', ['123456789.12345678901234567890']],
  [list(date), '["2026-01-31"]', ['2026-01-31T00:00:00.000Z']],
  [
    list(date),
    '["+10000-01-01T00:00:00.000Z","-0043-03-15"]',
    ['+10000-01-01T00:00:00.000Z', '-0043-03-15T00:00:00.000Z'],
  ],
  [list(timestamp), '["-0043-03-15T12:00:00.000001Z"]'],
  [list(timestamp), '["2026-01-01T12:00:00+05:00"]', ['2026-01-01T07:00:00.000000Z']],
  [list(binary), '["AP8B",""]'],
  [list({ kind: 'json' }), '[{"a":["1",1.5,true,null]},"x1",2,[]]'],
  [struct({ x: int32, y: utf8 }), '{"x":1,"y":"z"}'],
  [struct({ x: int32, y: utf8 }), '{"y":"z","x":null}', { x: null, y: 'z' }],
  [struct({ x: int32, y: utf8 }), '{"y":"z"}', { x: null, y: 'z' }],
  [struct({ 'a "b\'': int32, select: list(struct({ b: binary })) }), '{"a \\"b\'":1,"select":[{"b":"AP8B"},null]}'],
  [struct({ x: struct({ y: struct({ z: list(int32) }) }) }), '{"x":{"y":{"z":[1]}}}'],
  [map(utf8, int32), '{"a":1,"b":null}'],
  [map(utf8, int32), '{}'],
  [map(utf8, int32), '[{"key":"a","value":1}]', { a: 1 }],
  [map(utf8, binary), '{"1":"AP8B"}'],
  [map(int32, int32), '[{"key":1,"value":2},{"key":-1,"value":null}]'],
  [map(int32, int32), '[]'],
  [map(int32, map(int32, list(utf8))), '[{"key":1,"value":[{"key":2,"value":["x"]}]}]'],
  [struct({ m: map(int32, int32) }), '{"m":[]}'],
];

describe('a nested value that fits is read exactly', () => {
  test.each(fitting.map(([type, text, shown]) => ({ type, name: sqlTypeName(type), text, shown })))(
    '$name: $text',
    async ({ type, text, shown = JSON.parse(text) }) => {
      const expected = { types: [sqlTypeName(type)], rows: [[shown]] };
      expect(await json(`{"v":${text}}`, type)).toMatchObject(expected);
      expect(await csv(text, type)).toMatchObject(expected);
    },
  );

  test('JSON inside a list keeps every digit', async () => {
    const { part, path } = await json('{"v":[{"a":0.12345678901234567890},"0.5"]}', list({ kind: 'json' }));
    const job = { parts: [{ path, rows: 1 }], columns: part.columns, form: 'ndjson', chunkRows: 10 } as const;
    let text = '';
    const whole = { ...job, fromRow: 0, toRow: 1 };
    for await (const { bytes } of files.engine.read(whole, { signal: AbortSignal.timeout(9000) })) {
      text += Buffer.from(bytes).toString();
    }
    expect(text).toBe('{"v":[{"a":0.12345678901234567890},"0.5"]}\n');
  });
});

const misfits: readonly (readonly [DataType, string])[] = [
  [struct({ x: int32 }), '{"x":"many"}'],
  [struct({ x: int32 }), '{"x":1,"y":2}'],
  [struct({ x: int32 }), '{"X":1}'],
  [struct({ x: int32 }), '{"x":1,"x":2}'],
  [struct({ x: int32 }), '[]'],
  [struct({ x: int32 }), '"x"'],
  [struct({ x: int32 }), '{"x":[1]}'],
  [struct({ x: struct({ y: int32 }) }), '{"x":{"y":"many"}}'],
  [list(struct({ x: int32 })), '[{"x":1},{"y":1}]'],
  [list(int8), '[300]'],
  [list(int32), '[1.5]'],
  [list(int32), '[1.00000000000000000001]'],
  [list(int32), '{"a":1}'],
  [list(int32), '5'],
  [list(list(int32)), '[[1],2]'],
  [list(decimal(9, 2)), '["1.239"]'],
  [list(date), '["2026-02-30"]'],
  [list(date), '["+6000000-01-01"]'],
  [list({ kind: 'json' }), '["\\ufdd01"]'],
  [list(date), '["2026-01-31T12:00:00Z"]'],
  [list(binary), '["%"]'],
  [list(utf8), '[{"a":1}]'],
  [map(int32, int32), '[{"key":1,"value":2},{"key":1,"value":3}]'],
  [map(int32, int32), '[{"value":2}]'],
  [map(int32, int32), '[{"key":1,"value":2,"more":3}]'],
  [map(int32, int32), '{"a":1}'],
  [map(utf8, int32), '{"a":"b"}'],
  [map(utf8, int32), '{"a":1,"a":2}'],
];

describe('a nested value that does not fit', () => {
  test.each(misfits.map(([type, text]) => ({ type, name: sqlTypeName(type), text })))(
    '$name: $text is refused, or left out',
    async ({ type, name, text }) => {
      const shown = text.startsWith('"') ? JSON.parse(text) : text;
      const message = `line 2, column "v": ${JSON.stringify(shown)} is not of the type ${name}`;
      const content = `{"v":null}\n{"v":${text}}\n{"v":null}`;
      await expect(json(content, type)).rejects.toMatchObject({ code: 'invalid_input', message });
      await expect(csv(shown, type)).rejects.toMatchObject({ code: 'invalid_input', message });
      const { part, rows } = await json(content, type, true);
      expect(rows).toEqual([[null], [null]]);
      expect(part.report).toMatchObject({ rejectedRows: 1, rejections: [{ line: 2, column: 'v' }] });
    },
  );
});

test('a type too deep for DuckDB to plan is refused', async () => {
  const deep = Array.from({ length: 40 }).reduce<DataType>((element) => list(element), int32);
  await expect(json('{"v":null}', deep)).rejects.toMatchObject({ code: 'unsupported_type' });
});

test.each([
  [date, '+10000-01-01', '+10000-01-01T00:00:00.000Z'],
  [date, '0000-02-29T00:00:00.000Z', '0000-02-29T00:00:00.000Z'],
  [date, '-5877641-06-25', '-5877641-06-25T00:00:00.000Z'],
  [timestamp, '+294247-01-10T04:00:54.775806Z', '+294247-01-10T04:00:54.775806Z'],
  [{ ...timestamp, zoned: true }, '+294247-01-10T04:00:54.775806Z', '+294247-01-10T04:00:54.775806Z'],
  [{ ...timestamp, zoned: true }, '-0043-03-15 12:00:00', '-0043-03-15T12:00:00.000000Z'],
])('a year of more or less than four digits is read: %j %s', async (type, text, shown) => {
  expect((await json(JSON.stringify({ v: text }), type)).rows).toEqual([[shown]]);
});
