import { type Batch, type Column, type DataType, type Vector, vectorPart } from '@framehold/columns';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimalQuotient } from '../text/decimal-quotient.ts';
import { LineError } from './line-error.ts';
import { LineParser, type LineParserOptions, paused } from './line-parser.ts';

const text: DataType = { kind: 'utf8' };
const long: DataType = { kind: 'int', bits: 64, signed: true };
const double: DataType = { kind: 'float', bits: 64 };
const boolean: DataType = { kind: 'boolean' };
const micros: DataType = { kind: 'timestamp', unit: 'us', zoned: false };
const nanos: DataType = { kind: 'timestamp', unit: 'ns', zoned: false };

type Options = Partial<LineParserOptions> & { readonly frames?: Readonly<Record<string, readonly Column[]>> };

function batches(body: string | Uint8Array, { frames = {}, ...options }: Options = {}): Map<string, Batch> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const parser = new LineParser(bytes, { precision: 'n', now: 7_000_000n, addsColumns: false, ...options });
  for (let pending = parser.next(); pending !== undefined; pending = parser.next()) {
    if (pending !== paused) parser.know(frames[pending.name]);
  }
  return new Map([...parser.measurements].map((rows) => [rows.name, rows.batch()]));
}

function valueAt({ type, validity, offsets, data }: Vector, row: number): unknown {
  if (validity !== null && ((vectorPart(validity[row >> 3]) >> (row & 7)) & 1) === 0) return null;
  const bytes = vectorPart(data);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type.kind === 'boolean') return ((vectorPart(bytes[row >> 3]) >> (row & 7)) & 1) === 1;
  if (type.kind === 'float') return view.getFloat64(row * 8, true);
  if (type.kind === 'utf8') return Buffer.from(bytes).toString('utf8', offsets?.[row], offsets?.[row + 1]);
  return view.getBigInt64(row * 8, true);
}

/** Rows as objects, NULL left out. */
function rowsOf(body: string | Uint8Array, options?: Options): Record<string, unknown>[] {
  return [...batches(body, options).values()].flatMap(({ columns, rows, vectors }) =>
    Array.from({ length: rows }, (_, row) => {
      const cells = columns.map(({ name }, at) => [name, valueAt(vectors[at] as Vector, row)] as const);
      return Object.fromEntries(cells.filter(([, value]) => value !== null));
    }),
  );
}

function errorOf(body: string | Uint8Array, options?: Options): LineError {
  try {
    batches(body, options);
  } catch (error) {
    if (error instanceof LineError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a line', () => {
  test('becomes a row with a column for each tag and field, the timestamp behind them', () => {
    const [batch] = batches('t,sym=A px=1.5,n=2i,u=3u,ok=t,s="x",at=5t 1763424000000000001\n').values();
    expect(batch?.columns).toEqual([
      { name: 'sym', type: text },
      { name: 'px', type: double },
      { name: 'n', type: long },
      { name: 'u', type: long },
      { name: 'ok', type: boolean },
      { name: 's', type: text },
      { name: 'at', type: micros },
      { name: 'timestamp', type: nanos },
    ]);
    const row = { sym: 'A', px: 1.5, n: 2n, u: 3n, ok: true, s: 'x', at: 5n, timestamp: 1763424000000000001n };
    expect(rowsOf('t,sym=A px=1.5,n=2i,u=3u,ok=t,s="x",at=5t 1763424000000000001\n')).toEqual([row]);
  });

  test.each([
    ['t a=1', { a: 1, timestamp: 7_000_000n }],
    ['t,a=b', { a: 'b', timestamp: 7_000_000n }],
    ['t,a=b 12', { a: 'b', timestamp: 12n }],
    ['t,a= b=1 1', { a: '', b: 1, timestamp: 1n }],
    ['t  a=1  12  ', { a: 1, timestamp: 12n }],
    ['t a=1 -12', { a: 1, timestamp: -12n }],
    ['t a=1 5t', { a: 1, timestamp: 5000n }],
    ['t a=1i,A=2i,a="x" 1', { a: 1n, timestamp: 1n }],
    ['t timestamp=5t 9', { timestamp: 5000n }],
    ['t a=-9223372036854775808i,b=9223372036854775807i 1', { a: -(2n ** 63n), b: 2n ** 63n - 1n, timestamp: 1n }],
    ['t a=9007199254740993i,b=-4294967296i,c=-1i 1', { a: 9007199254740993n, b: -4294967296n, c: -1n, timestamp: 1n }],
    ['t a=NaN,b=Infinity,c=-Infinity 1', { a: Number.NaN, b: Infinity, c: -Infinity, timestamp: 1n }],
    [
      't a=1e3,b=-.5,c=1.,d=+2,e=1e-400,f=1E300,g=-0 1',
      { a: 1000, b: -0.5, c: 1, d: 2, e: 0, f: 1e300, g: -0, timestamp: 1n },
    ],
    ['t a=True,b=F,c=FALSE 1', { a: true, b: false, c: false, timestamp: 1n }],
    [String.raw`t,a\ b=c\,d\=e\\f\g k\=1="x\"y\\z\n" 1`, { 'a b': 'c,d=e\\f\\g', 'k=1': 'x"y\\z\\n', timestamp: 1n }],
    ['t,a=ä\\\nb s="日\n本" 1', { a: 'ä\nb', s: '日\n本', timestamp: 1n }],
    ['t,a=x\ry b=1 1\r', { a: 'x\ry', b: 1, timestamp: 1n }],
  ])('%j is read as it should be', (line, row) => {
    expect(rowsOf(line)).toEqual([row]);
    expect(rowsOf(`${line}\n`)).toEqual([row]);
  });

  test.each([
    ['n', 1_000_000n],
    ['us', 1_000_000_000n],
    ['ms', 1_000_000_000_000n],
    ['s', 1_000_000_000_000_000n],
    ['m', 60_000_000_000_000_000n],
    ['h', 3_600_000_000_000_000_000n],
  ] as const)('has a timestamp in %s', (precision, timestamp) => {
    expect(rowsOf('t a=1 1000000', { precision })).toEqual([{ a: 1, timestamp }]);
  });
});

test('rows without a value of a column are NULL there, whatever the order of names', () => {
  const lines = Array.from({ length: 200 }, (_, n) => {
    const fields = [`a=${n}i`, `b="${n}"`, `c=${n % 2 === 0}`, `d=${n}.5`].filter((_, at) => n % (at + 2) !== 0);
    return `t,tag=x ${n % 3 === 0 ? fields.reverse().join(',') : fields.join(',')}${fields.length > 0 ? ' ' : ''}${n}`;
  });
  expect(rowsOf(lines.join('\n'))).toEqual(
    Array.from({ length: 200 }, (_, n) => ({
      tag: 'x',
      ...(n % 2 !== 0 && { a: BigInt(n) }),
      ...(n % 3 !== 0 && { b: `${n}` }),
      ...(n % 4 !== 0 && { c: n % 2 === 0 }),
      ...(n % 5 !== 0 && { d: n + 0.5 }),
      timestamp: BigInt(n),
    })),
  );
});

test('measurements are told apart, also where they take turns', () => {
  const all = batches('a x=1 1\nb y=2i 1\na x=2 2\n\n# nothing\nab x=3 3\nb y=3i 2');
  expect([...all].map(([name, { rows }]) => [name, rows])).toEqual([
    ['a', 2],
    ['b', 2],
    ['ab', 1],
  ]);
});

describe('the columns of a frame', () => {
  const columns = [
    { name: 'Px', type: double },
    { name: 'id', type: { kind: 'struct', fields: [{ name: 'x', type: { kind: 'list', element: long } }] } },
    { name: 'timestamp', type: micros },
  ] as const satisfies readonly Column[];
  const frames = { t: columns };

  test('are kept in their order, and found in any case', () => {
    const [batch] = batches('t px=7i 1000', { frames }).values();
    expect(batch?.columns).toBe(columns);
    expect(rowsOf('t PX=7i 1763424000000001000', { frames })).toEqual([{ Px: 7, timestamp: 1763424000000001n }]);
  });

  test('have others behind them where these are added', () => {
    const [batch] = batches('t px=1,vol=2i,ok=t 1000', { frames, addsColumns: true }).values();
    expect(batch?.columns).toEqual([...columns, { name: 'vol', type: long }, { name: 'ok', type: boolean }]);
  });

  test.each([
    ['t px="x" 1000', 'column "Px" of t is DOUBLE, and the value is VARCHAR'],
    ['t px=9007199254740993i 1000', '"9007199254740993" is not exact as a DOUBLE, as column "Px" of t is'],
    ['t vol=1 1000', 'column "vol" is not in the frame t'],
    ['t id=1 1000', 'column "id" of t is JSON, and the value is DOUBLE'],
    ['t px=1 1001', 'column "timestamp" of t is TIMESTAMP, which has microseconds'],
    ['t,timestamp=x px=1', 'column "timestamp" of t is TIMESTAMP, and the value is VARCHAR'],
  ])('refuse %j', (line, message) => {
    const error = errorOf(`t px=1 1000\n${line}`, { frames });
    expect([error.line, error.message]).toEqual([2, expect.stringContaining(message)]);
  });

  test('need no timestamp where the line has none either', () => {
    const bare = { t: [{ name: 'a', type: long }] };
    expect(rowsOf('t a=1i', { frames: bare })).toEqual([{ a: 1n }]);
    expect(errorOf('t a=1i 5', { frames: bare }).message).toContain('column "timestamp" is not in the frame t');
  });
});

describe('an error', () => {
  test.each([
    ['t', 1, 'neither tags nor fields'],
    ['t ', 1, 'neither tags nor fields'],
    ['\n#x\n\nt a', 4, 'the field "a" has no value'],
    ['t a=1\r\n\r\nt a=', 3, 'the field "a" has no value'],
    ['t s="a\nb" 1\nt a=x', 3, '"x" of "a" is no value'],
    ['t s="a\nb', 1, 'has no closing quote'],
    ['t s="a\\"', 1, 'has no closing quote'],
    ['t s="a"b 1', 1, 'something stands behind the text of "s"'],
    [',a=1 b=1', 1, 'no name of a measurement'],
    ['t,=1 b=1', 1, 'a tag has no name'],
    ['t,a=b=c d=1', 1, 'tag "a" has a = in its value'],
    ['t =1', 1, 'a field has no name'],
    ['t a=1,', 1, 'a field has no name'],
    ['t a=1 b=2 3', 1, '"b=2" is no timestamp'],
    ['t a=1 2 3', 1, 'something stands behind the timestamp'],
    ['t a=1 1.5', 1, '"1.5" is no timestamp'],
    ['t a=1 99999999999999999999', 1, 'out of the range of its type, TIMESTAMP_NS'],
    ['t a=1 -9223372036854775808', 1, 'out of the range of its type, TIMESTAMP_NS'],
    ['t a=1 -9223372036854775807', 1, 'out of the range of its type, TIMESTAMP_NS'],
    ['t a=1 9223372036854775807', 1, 'out of the range of its type, TIMESTAMP_NS'],
    ['t a=-9223372022400000001t 1', 1, 'out of the range of its type, TIMESTAMP'],
    ['t a=1e400', 1, '"1e400" does not fit into a DOUBLE'],
    ['t a=9223372036854775808i', 1, 'does not fit into a LONG'],
    ['t a=18446744073709551615u', 1, 'does not fit into a LONG'],
    ['t a=-1u', 1, '"-1u" of "a" is no value'],
    ['t a=1.5i', 1, '"1.5i" of "a" is no value'],
    ['t a=1e', 1, '"1e" of "a" is no value'],
    ['t a=tru', 1, '"tru" of "a" is no value'],
    ['t a=1i 1\nt a=1.5 2', 2, 'column "a" of t is LONG, and the value is DOUBLE'],
  ])('of %j names line %i', (body, line, message) => {
    const error = errorOf(body);
    expect([error.line, error.message]).toEqual([line, expect.stringContaining(message)]);
  });

  test('names the line that is not UTF-8', () => {
    expect(errorOf(Buffer.from([...Buffer.from('t a=1\n\nt,b='), 0xff, ...Buffer.from(' a=1\n')])).line).toBe(3);
  });

  test('ends rows that would take too much memory as columns', () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `t a${n % 4000}=1`);
    expect(errorOf(lines.join('\n')).code).toBe('too_large');
    expect(errorOf(`t ${Array.from({ length: 5000 }, (_, n) => `a${n}=1`).join(',')}`).message).toContain(
      '4096 columns',
    );
  });

  test('is the only thing that any bytes give, and names a line that is there', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        't',
        ',',
        ' ',
        '=',
        '\n',
        '\r\n',
        '"',
        '\\',
        'a=1',
        ' b=2i',
        '#',
        '1763424000000000000',
        'true',
        'ä',
      ),
      fc.string({ maxLength: 3, unit: 'binary' }),
    );
    const body = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''))),
      fc.uint8Array({ maxLength: 60 }),
    );
    fc.assert(
      fc.property(body, (bytes) => {
        try {
          batches(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(LineError);
          const lines = Buffer.from(bytes).toString('latin1').split('\n').length;
          expect((error as LineError).line).toBeGreaterThanOrEqual(1);
          expect((error as LineError).line).toBeLessThanOrEqual(lines);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('numbers are read as JavaScript reads them', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.maxSafeInteger(),
      fc.nat(25),
      (value, whole, scale) => {
        const written = `${whole}e-${scale}`;
        expect(rowsOf(`t a=${value},b=${written},c=${whole}i 1`)).toEqual([
          { a: Number(String(value)), b: Number(written), c: BigInt(whole), timestamp: 1n },
        ]);
      },
    ),
  );
});

test('a quotient of many digits is the double that is nearest, or none', () => {
  const digits = fc.bigInt({ min: 10n ** 15n, max: 10n ** 19n - 1n }).map(String);
  fc.assert(
    fc.property(digits, fc.nat(22), (all, scale) => {
      const quotient = decimalQuotient(Number(all.slice(0, 15)), Number(all.slice(15)), all.length - 15, scale);
      if (!Number.isNaN(quotient)) expect(quotient).toBe(Number(`${all}e-${scale}`));
    }),
    { numRuns: 2000 },
  );
});

describe('a long body', () => {
  const options = { precision: 'n', now: 0n, addsColumns: false } as const;

  test('is parsed in slices, to the same rows', () => {
    const lines = Array.from({ length: 100_000 }, (_, n) => `t,sym=s${n % 7} px=${n}i ${n}`);
    const parser = new LineParser(Buffer.from(lines.join('\n')), options);
    let pauses = 0;
    for (let next = parser.next(); next !== undefined; next = parser.next()) {
      if (next === paused) pauses++;
      else parser.know(undefined);
    }
    expect(pauses).toBeGreaterThan(5);
    const [rows] = parser.measurements;
    const { vectors, rows: count } = rows?.batch() ?? { vectors: [], rows: 0 };
    expect(count).toBe(100_000);
    expect([0, 65_535, 99_999].map((row) => valueAt(vectors[1] as Vector, row))).toEqual([0n, 65_535n, 99_999n]);
    expect([0, 65_535, 99_999].map((row) => valueAt(vectors[0] as Vector, row))).toEqual(['s0', 's1', 's4']);
  });

  test('pauses more often the more its columns are enlarged', () => {
    const parser = new LineParser(
      Buffer.from(Array.from({ length: 8000 }, (_, n) => `t f${n % 1000}=1`).join('\n')),
      options,
    );
    let pauses = 0;
    for (let next = parser.next(); next !== undefined; next = parser.next()) {
      if (next === paused) pauses++;
      else parser.know(undefined);
    }
    expect(pauses).toBeGreaterThan(5);
  });

  test('has no line, and no text in it, that would be read in one go', () => {
    const long = 'x'.repeat(9_000_000);
    const fills = 't a=1\n'.repeat(3);
    for (const line of [`#${long}`, `${long} a=1`, `t ${long}=1`, `t a=1${long}`, `t a="${long}"`, `t,a=${long} b=1`]) {
      expect(errorOf(`${fills}${line}\nt a=1\n`)).toMatchObject({ code: 'too_large', line: 4 });
    }
    const text = `${'x'.repeat(1000)}\n`.repeat(9000);
    expect(errorOf(`${fills}t s="${text}"\n`)).toMatchObject({ code: 'too_large', line: 4 });
    expect(errorOf(`${fills}t s="\n${'1'.repeat(300_000)}\n",b=1,c=${long}\n`)).toMatchObject({
      code: 'too_large',
      line: 4,
    });
  });

  test('names a line far behind its beginning that is not UTF-8', () => {
    const lines = 't a=1\n'.repeat(200_000);
    const body = Buffer.concat([
      Buffer.from(lines),
      Buffer.from('t a="'),
      Buffer.from([255]),
      Buffer.from('"\n'),
      Buffer.from(lines),
    ]);
    expect(errorOf(body)).toMatchObject({ message: 'the line is not UTF-8', line: 200_001 });
  });

  test('has so many measurements at most', () => {
    const lines = Array.from({ length: 10_001 }, (_, n) => `t${n} a=1`).join('\n');
    expect(errorOf(lines)).toMatchObject({ message: 'there are more than 10000 measurements', line: 10_001 });
  });

  test('has so many fields in a line at most, those of one name as well', () => {
    expect(errorOf(`t ${'a=1,'.repeat(9000)}a=1`)).toMatchObject({
      message: 'a line has more than 8192 tags and fields',
    });
  });
});

test.each([
  ['a double', '1'],
  ['a whole number', '1i'],
  ['a fraction', '.5'],
])('%s with thousands of digits is refused, as to read it takes a time that grows with their square', (_, end) => {
  expect(errorOf(`m x=${'1'.repeat(1000)}${end}\n`).message).toContain('a number has more than 1000 characters');
});

test('a whole number that no double reaches is refused in a column of doubles', () => {
  const frames = { m: [{ name: 'x', type: double }] };
  expect(errorOf(`m x=${'9'.repeat(400)}i\n`, { frames }).message).toContain('is not exact as a DOUBLE');
});

test('empty lines and comments are parsed in slices that others may come between', () => {
  for (const line of ['\n', '#\n']) {
    const parser = new LineParser(Buffer.from(line.repeat(100_000)), { precision: 'n', now: 0n, addsColumns: false });
    let slices = 0;
    while (parser.next() === paused) slices++;
    expect(slices).toBeGreaterThan(5);
  }
});
