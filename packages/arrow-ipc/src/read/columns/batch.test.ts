import { describe, expect, test } from 'vitest';
import {
  bytesOf,
  caseNamed,
  dictionaryCases,
  nestedCases,
  scalarCases,
} from '../../../../../test/support/arrow-column-cases.ts';
import {
  batchMessage,
  i8,
  i32,
  type RawBatch,
  type RawField,
  schemaMessage,
} from '../../../../../test/support/arrow-stream-writer.ts';
import { messagesOf } from '../../../../../test/support/read-arrow-messages.ts';
import type { ArrowMessage } from '../format/messages.ts';
import { readSchema } from '../format/schema.ts';
import { UnfoldBudget } from '../format/unfold-budget.ts';
import { readBatch } from './batch.ts';
import type { ArrowColumn } from './column.ts';

async function read(field: RawField, batch: RawBatch): Promise<{ rows: number; columns: ArrowColumn[] }> {
  const [schema, message] = (await messagesOf(schemaMessage([field]), batchMessage(batch))) as [
    ArrowMessage,
    ArrowMessage,
  ];
  return readBatch(message.header, message, readSchema(schema.header), new Map());
}

const cases = [...scalarCases, ...nestedCases, ...dictionaryCases];

test.each(cases.map((one) => [one.what, one] as const))('a batch of %s is read', async (_, { field, batch }) => {
  expect(await read(field, batch)).toMatchObject({ rows: batch.rows, columns: [{ length: batch.rows }] });
});

describe('a batch that DuckDB would follow out of bounds is refused', () => {
  const withBuffer = (what: string, index: number, bytes: ArrayBufferView): [RawField, RawBatch] => {
    const { field, batch } = caseNamed(what);
    return [field, { ...batch, buffers: batch.buffers.map((old, at) => (at === index ? bytesOf(bytes) : old)) }];
  };
  const withBatch = (what: string, change: Partial<RawBatch>): [RawField, RawBatch] => {
    const { field, batch } = caseNamed(what);
    return [field, { ...batch, ...change }];
  };
  const withNullKey = (): [RawField, RawBatch] => {
    const [field, batch] = withBuffer('map', 3, Uint8Array.of(0b110));
    return [
      field,
      {
        ...batch,
        nodes: [
          [3, 1],
          [3, 0],
          [3, 1],
          [3, 1],
        ],
      },
    ];
  };
  const view = (length: number, buffer: number, offset: number): Int32Array =>
    Int32Array.of(length, 0, buffer, offset, 0, 0, 0, 0, 0, 0, 0, 0);

  test.each<[string, [RawField, RawBatch], RegExp]>([
    ['string offsets that go back', withBuffer('utf8', 1, Int32Array.of(0, 4, 3, 5)), /go back at row 2/],
    ['string offsets below 0', withBuffer('utf8', 1, Int32Array.of(-1, 4, 4, 5)), /go back at row 0/],
    ['string offsets past the bytes', withBuffer('utf8', 1, Int32Array.of(0, 4, 4, 500)), /outside its data/],
    [
      'large offsets past 32 bits',
      withBuffer('large_utf8', 1, BigInt64Array.of(0n, 2n, 2n, 2n ** 40n)),
      /outside its data/,
    ],
    ['large offsets below 0', withBuffer('large_binary', 1, BigInt64Array.of(-1n, 2n, 2n, 3n)), /outside its data/],
    ['too few offsets', withBuffer('utf8', 1, Int32Array.of(0, 4, 4)), /too short/],
    ['too few values', withBuffer('int64', 1, Int32Array.of(0, 4, 4)), /too short/],
    ['too few bits', withBuffer('bool', 1, new Uint8Array(0)), /too short/],
    ['no bitmap where nulls are claimed', withBuffer('int64', 0, new Uint8Array(0)), /no bitmap/],
    ['list offsets past the elements', withBuffer('list', 1, Int32Array.of(0, 2, 2, 4)), /outside its data/],
    ['a view past its buffer', withBuffer('utf8_view', 1, view(13, 1, 30)), /points outside its data at row 0/],
    ['a view into no buffer', withBuffer('utf8_view', 1, view(13, 2, 0)), /points outside its data at row 0/],
    ['a view of negative length', withBuffer('utf8_view', 1, view(-1, 0, 0)), /points outside its data at row 0/],
    ['more view buffers than there are', withBatch('utf8_view', { viewedCounts: [3] }), /misses data buffers/],
    [
      'a struct whose child is short',
      withBatch('struct', {
        nodes: [
          [3, 1],
          [2, 1],
          [3, 0],
        ],
      }),
      /child of 2 values, not 3/,
    ],
    [
      'a fixed-size list whose child is short',
      withBatch('fixed_size_list', {
        nodes: [
          [3, 1],
          [5, 1],
        ],
      }),
      /child of 5 values, not 6/,
    ],
    ['an unknown type id', withBuffer('sparse union', 0, Uint8Array.of(5, 6, 7)), /unknown type id at row 1/],
    [
      'a union that points past a member',
      withBuffer('dense union', 1, Int32Array.of(2, 0, 0)),
      /outside its member at row 0/,
    ],
    ['a key twice', withBuffer('map', 5, Uint8Array.from(Buffer.from('aaa'))), /key twice at row 0/],
    ['a null key', withNullKey(), /null key at row 0/],
    ['rows that the columns have not', withBatch('int64', { rows: 4 }), /3 rows in a batch of 4/],
    ['negative rows', withBatch('int64', { rows: -1, nodes: [[-1, 0]] }), /claims -1 values/],
    [
      'vast rows of a type without buffers',
      withBatch('null', { rows: 2 ** 40, nodes: [[2 ** 40, 0]] }),
      /claims 1099511627776 values/,
    ],
    [
      'a node too many',
      withBatch('int64', {
        nodes: [
          [3, 1],
          [3, 1],
        ],
      }),
      /1 field nodes too many/,
    ],
    ['no node', withBatch('int64', { nodes: [] }), /no field node/],
    ['no buffer', withBatch('int64', { buffers: [] }), /misses a buffer/],
    ['a buffer too many', withBatch('null', { buffers: [Uint8Array.of(1)] }), /1 buffers too many/],
    ['text that is not UTF-8', withBuffer('utf8', 2, new Uint8Array(40).fill(0xc5)), /not UTF-8 at row 0/],
    ['a character cut in two', withBuffer('utf8', 1, Int32Array.of(0, 1, 1, 36)), /not UTF-8 at row 0/],
    [
      'a view that is not UTF-8',
      withBuffer('utf8_view', 1, Int32Array.of(1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
      /not UTF-8 at row 0/,
    ],
    [
      'JSON that is none',
      withBuffer('arrow.json', 2, Uint8Array.from(Buffer.from('{"a":1,null'))),
      /not JSON at row 0/,
    ],
  ])('%s', async (_, [field, batch], words) => {
    await expect(read(field, batch)).rejects.toThrow(words);
  });

  test('bytes of a null row need not be UTF-8', async () => {
    const [field, batch] = withBuffer('utf8', 1, Int32Array.of(0, 0, 1, 36));
    const bytes = new Uint8Array(36).fill(65).fill(255, 0, 1);
    const buffers = [...batch.buffers.slice(0, 2), bytes];
    expect((await read(field, { ...batch, buffers })).columns).toHaveLength(1);
  });

  test.each([
    ['an unknown codec', { 0: i8(7) }, 'unknown codec (7)'],
    ['an unknown method', { 0: i8(1), 1: i8(1) }, 'compressed in a way that is not known'],
    ['zstd that is none', { 0: i8(1) }, 'its zstd cannot be unpacked'],
    ['LZ4 that is none', { 0: i8(0) }, 'its LZ4 cannot be unpacked'],
  ])('%s is refused', async (_, compression, message) => {
    const { field, batch } = caseNamed('int64');
    const packed = new Uint8Array(64).fill(1).fill(0, 1, 8);
    const buffers = batch.buffers.map((buffer) => (buffer.length === 0 ? buffer : packed));
    const [schema, sent] = (await messagesOf(
      schemaMessage([field]),
      batchMessage({ ...batch, buffers }, { 3: compression }),
    )) as [ArrowMessage, ArrowMessage];
    const fields = readSchema(schema.header);
    expect(() => readBatch(sent.header, sent, fields, new Map())).toThrow(message);
  });

  // Three bytes in one block that is not packed.
  test.each([
    ['says so', [0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 1, 2, 3]],
    ['does not say how much it holds', [0x28, 0xb5, 0x2f, 0xfd, 0, 0x48, 0x19, 0, 0, 1, 2, 3]],
  ])('a zstd buffer that holds less than it claims is refused where its header %s', async (_, frame) => {
    const { field, batch } = caseNamed('int64');
    const packed = Uint8Array.from([64, 0, 0, 0, 0, 0, 0, 0, ...frame]);
    const buffers = batch.buffers.map((buffer) => (buffer.length === 0 ? buffer : packed));
    const [schema, sent] = (await messagesOf(
      schemaMessage([field]),
      batchMessage({ ...batch, buffers }, { 3: { 0: i8(1) } }),
    )) as [ArrowMessage, ArrowMessage];
    expect(() => readBatch(sent.header, sent, readSchema(schema.header), new Map())).toThrow(
      'holds 3 bytes instead of the 64 that it claims',
    );
  });

  test('compressed buffers that claim more than a batch may hold are refused before memory is taken', async () => {
    const { field, batch } = caseNamed('int64');
    const packed = new Uint8Array(16).fill(0xff, 0, 5);
    const buffers = batch.buffers.map(() => packed);
    const [schema, sent] = (await messagesOf(
      schemaMessage([field]),
      batchMessage({ ...batch, buffers }, { 3: { 0: i8(1) } }),
    )) as [ArrowMessage, ArrowMessage];
    expect(() => readBatch(sent.header, sent, readSchema(schema.header), new Map())).toThrow(/unpacks to \d+ bytes/);
  });
});

test('a schema that unfolds without end is refused', async () => {
  let field: RawField = { name: 'n', type: [2, { 0: i32(32), 1: i8(1) }] };
  for (let depth = 0; depth < 70; depth++) field = { name: 's', type: [13, {}], children: [field] };
  const [schema] = await messagesOf(schemaMessage([field]));
  expect(() => readSchema((schema as ArrowMessage).header)).toThrow(/nested more than 64 deep/);
});

test('views that stand for more than a batch may hold are refused', async () => {
  const { field, batch } = caseNamed('utf8_view');
  const [schema, sent] = (await messagesOf(schemaMessage([field]), batchMessage(batch))) as [
    ArrowMessage,
    ArrowMessage,
  ];
  const within = (bytes: number) => () =>
    readBatch(sent.header, sent, readSchema(schema.header), new Map(), new UnfoldBudget(bytes));
  expect(within(32)).not.toThrow();
  expect(within(31)).toThrow('has views of 32 bytes (at most 31)');
});
