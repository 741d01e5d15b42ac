import { type Column, type DataType, sqlTypeName } from '@framehold/columns';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileImports, type Imported } from '../../../test/support/file-imports.ts';

let files: FileImports;
beforeAll(async () => {
  files = await FileImports.open();
});
afterAll(async () => {
  await files[Symbol.asyncDispose]();
});

function json(content: string, type: DataType): Promise<Imported> {
  return files.import(content, { kind: 'json', skipsBadRows: false, like: [{ name: 'v', type }] });
}

function csv(content: string, like: readonly Column[], skipsBadRows = false): Promise<Imported> {
  return files.import(content, { kind: 'csv', skipsBadRows, hasHeader: true, delimiter: ',', like });
}

function quoted(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

/** One file for many cases: a row for each case, and a column for each type. */
class CaseFile<Case extends { readonly type: DataType }> {
  readonly cases: readonly Case[];
  readonly like: readonly Column[];

  constructor(cases: readonly Case[]) {
    this.cases = cases;
    this.like = [...new Map(cases.map(({ type }) => [sqlTypeName(type), type]))].map(([name, type]) => ({
      name,
      type,
    }));
  }

  json(textOf: (one: Case) => string): string {
    return this.cases.map((one) => `{${JSON.stringify(sqlTypeName(one.type))}:${textOf(one)}}`).join('\n');
  }

  csv(textOf: (one: Case) => string): string {
    const header = this.like.map(({ name }) => quoted(name)).join();
    const lines = this.cases.map((one) =>
      this.like.map(({ name }) => (name === sqlTypeName(one.type) ? quoted(textOf(one)) : '')).join(),
    );
    return `${[header, ...lines].join('\n')}\n`;
  }

  /** The value of each case. */
  values({ types, rows }: Imported): unknown[] {
    return this.cases.map(({ type }, row) => rows[row]?.[types.indexOf(sqlTypeName(type))]);
  }
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

/** The text, and the value as it is shown, if that differs. */
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
  const file = new CaseFile(fitting.map(([type, text, shown = JSON.parse(text)]) => ({ type, text, shown })));
  const expected = file.cases.map(({ shown }) => shown);

  test('in JSON', async () => {
    const content = file.json(({ text }) => text);
    const imported = await files.import(content, { kind: 'json', skipsBadRows: false, like: file.like });
    expect(file.values(imported)).toEqual(expected);
  });

  test('in CSV', async () => {
    expect(
      file.values(
        await csv(
          file.csv(({ text }) => text),
          file.like,
        ),
      ),
    ).toEqual(expected);
  });

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
  const cases = misfits.map(([type, text]) => {
    const shown: string = text.startsWith('"') ? JSON.parse(text) : text;
    return { type, text, shown, reason: `${JSON.stringify(shown)} is not of the type ${sqlTypeName(type)}` };
  });
  // A report names no more than twenty rows.
  const kinds = [(kind: string) => kind !== 'list', (kind: string) => kind === 'list'];
  const groups = kinds.map((has) => new CaseFile(cases.filter(({ type }) => has(type.kind))));
  const rejected = (group: CaseFile<(typeof cases)[number]>, firstLine: number) => ({
    rejectedRows: group.cases.length,
    rejections: group.cases.map(({ type, reason }, index) => ({
      line: firstLine + index,
      column: sqlTypeName(type),
      reason,
    })),
  });

  test.each(groups)('is left out with its row of JSON (group %#)', async (group) => {
    const nothing = `{${JSON.stringify(group.like[0]?.name)}:null}`;
    const content = `${nothing}\n${group.json(({ text }) => text)}\n${nothing}`;
    const { part, rows } = await files.import(content, { kind: 'json', skipsBadRows: true, like: group.like });
    const nulls = group.like.map(() => null);
    expect(rows).toEqual([nulls, nulls]);
    expect(part.report).toMatchObject(rejected(group, 2));
  });

  test.each(groups)('is left out with its row of CSV (group %#)', async (group) => {
    const { part } = await csv(
      group.csv(({ shown }) => shown),
      group.like,
      true,
    );
    expect(part.report).toMatchObject(rejected(group, 2));
  });

  test.each(['struct', 'list', 'map'])('refuses the file where no row may be left out: %s', async (kind) => {
    const one = cases.find(({ type }) => type.kind === kind);
    if (one === undefined) throw new Error('there is no such case');
    const { type, text, shown, reason } = one;
    const expected = { code: 'invalid_input', message: `line 2, column "v": ${reason}` };
    await expect(json(`{"v":null}\n{"v":${text}}\n{"v":null}`, type)).rejects.toMatchObject(expected);
    await expect(csv(`v\n${quoted(shown)}\n`, [{ name: 'v', type }])).rejects.toMatchObject(expected);
  });
});

test('a type too deep for DuckDB to plan is refused', async () => {
  const deep = Array.from({ length: 40 }).reduce<DataType>((element) => list(element), int32);
  await expect(json('{"v":null}', deep)).rejects.toMatchObject({ code: 'unsupported_type' });
});

test('a year of more or less than four digits is read', async () => {
  const zoned = { ...timestamp, zoned: true } as const;
  const cases: readonly { readonly type: DataType; readonly text: string; readonly shown: string }[] = [
    { type: date, text: '+10000-01-01', shown: '+10000-01-01T00:00:00.000Z' },
    { type: date, text: '0000-02-29T00:00:00.000Z', shown: '0000-02-29T00:00:00.000Z' },
    { type: date, text: '-5877641-06-25', shown: '-5877641-06-25T00:00:00.000Z' },
    { type: timestamp, text: '+294247-01-10T04:00:54.775806Z', shown: '+294247-01-10T04:00:54.775806Z' },
    { type: zoned, text: '+294247-01-10T04:00:54.775806Z', shown: '+294247-01-10T04:00:54.775806Z' },
    { type: zoned, text: '-0043-03-15 12:00:00', shown: '-0043-03-15T12:00:00.000000Z' },
  ];
  const file = new CaseFile(cases);
  const content = file.json(({ text }) => JSON.stringify(text));
  const imported = await files.import(content, { kind: 'json', skipsBadRows: false, like: file.like });
  expect(file.values(imported)).toEqual(cases.map(({ shown }) => shown));
});
