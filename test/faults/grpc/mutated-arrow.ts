import { Bool, Field, Float64, Int32, List, Struct, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { type ColumnCase, dictionaryCases, nestedCases, scalarCases } from '../../support/arrow-column-cases.ts';
import {
  batchMessage,
  dictionaryMessage,
  i64,
  type RawBatch,
  type RawField,
  schemaMessage,
} from '../../support/arrow-stream-writer.ts';
import { flightDataOf } from '../../support/flight-client.ts';
import type { Random } from '../harness/random.ts';
import { edges, mutatedBytes, withNumber } from './mutated-bytes.ts';

/** A message of Arrow IPC: its flatbuffer and its body. */
export interface ArrowParts {
  readonly header: Buffer;
  readonly body: Buffer;
}

const cases: readonly ColumnCase[] = [...scalarCases, ...nestedCases, ...dictionaryCases];

/** The messages of a stream of any type with a lie in it: in what they say, in their flatbuffers and bodies, in their order. */
export function mutatedArrowStream(random: Random): ArrowParts[] {
  if (random.chance(0.15)) return withMutatedPart(random, manyRows());
  const { field, batch, dictionaries = [] } = random.pick(cases);
  switch (random.between(0, 7)) {
    case 0:
      return messagesOf(mutatedField(random, field), batch, dictionaries);
    case 1:
    case 2:
      return messagesOf(field, mutatedBatch(random, batch), dictionaries);
    case 3: {
      // The layout of one type with the values of another.
      const other = random.pick(cases);
      return messagesOf(field, other.batch, other.dictionaries ?? dictionaries);
    }
    case 4: {
      const lied = dictionaries.map((each) =>
        random.chance(0.7) ? { ...each, batch: mutatedBatch(random, each.batch) } : { ...each, id: each.id + 1 },
      );
      return messagesOf(field, batch, lied);
    }
    case 5:
      return inOtherOrder(random, messagesOf(field, batch, dictionaries));
    default:
      return withMutatedPart(random, messagesOf(field, batch, dictionaries));
  }
}

function messagesOf(
  field: RawField,
  batch: RawBatch,
  dictionaries: NonNullable<ColumnCase['dictionaries']>,
): ArrowParts[] {
  return [
    schemaMessage([field]),
    ...dictionaries.map(({ id, batch: values, isDelta }) => dictionaryMessage(id, values, isDelta)),
    batchMessage(batch),
  ].map(partsOf);
}

let many: ArrowParts[] | undefined;

/** More rows than DuckDB takes at once, in columns whose parts point at each other. */
function manyRows(): ArrowParts[] {
  if (many !== undefined) return many;
  const rows = Array.from({ length: 5000 }, (_, row) => row);
  const pair = new Struct<{ x: Int32; y: List<Utf8> }>([
    new Field('x', new Int32(), true),
    new Field('y', new List(new Field('item', new Utf8(), true)), true),
  ]);
  const table = new Table({
    number: vectorFromArray(rows, new Float64()),
    flag: vectorFromArray(
      rows.map((row) => (row % 7 === 0 ? null : row % 2 === 0)),
      new Bool(),
    ),
    text: vectorFromArray(
      rows.map((row) => (row % 5 === 0 ? null : `text of some length ${row}`)),
      new Utf8(),
    ),
    word: vectorFromArray(rows.map((row) => `word ${row % 40}`)),
    list: vectorFromArray(
      rows.map((row) => (row % 3 === 0 ? null : [row, row + 1])),
      new List(new Field('item', new Int32(), true)),
    ),
    pair: vectorFromArray(
      rows.map((row) => ({ x: row, y: [`${row}`, 'and a longer one'] })),
      pair,
    ),
  });
  many = flightDataOf(tableToIPC(table, 'stream')).map(({ dataHeader: header, dataBody: body }) => ({ header, body }));
  return many;
}

export function partsOf(message: Uint8Array): ArrowParts {
  const bytes = Buffer.from(message);
  const bodyAt = 8 + bytes.readInt32LE(4);
  return { header: bytes.subarray(8, bodyAt), body: bytes.subarray(bodyAt) };
}

function withMutatedPart(random: Random, parts: readonly ArrowParts[]): ArrowParts[] {
  const chosen = random.between(0, parts.length - 1);
  return parts.map((part, index) => {
    if (index !== chosen) return part;
    const { header, body } = part;
    switch (random.between(0, 3)) {
      case 0:
        return { header: withNumber(random, Buffer.from(header)), body };
      case 1:
        return { header: mutatedBytes(random, header), body };
      case 2:
        return { header, body: mutatedBytes(random, body) };
      default:
        return { header, body: body.length === 0 ? body : withNumber(random, Buffer.from(body)) };
    }
  });
}

function inOtherOrder(random: Random, parts: readonly ArrowParts[]): ArrowParts[] {
  const out = [...parts];
  for (let moves = random.between(1, 3); moves > 0; moves--) {
    const [taken] = out.splice(random.between(0, out.length - 1), random.chance(0.5) ? 1 : 0);
    out.splice(random.between(0, out.length), 0, taken ?? random.pick(parts));
  }
  return out;
}

function lied(random: Random, value: number): number {
  if (random.chance(0.5)) return value + random.between(-3, 3);
  return Number(BigInt.asIntN(64, random.pick(edges)));
}

function mutatedBatch(random: Random, batch: RawBatch): RawBatch {
  const { rows, nodes, buffers, viewedCounts } = batch;
  const at = random.between(0, Math.max(0, buffers.length - 1));
  const withBuffer = (change: (bytes: Uint8Array) => Uint8Array): RawBatch => ({
    ...batch,
    buffers: buffers.map((bytes, index) => (index === at ? change(bytes) : bytes)),
  });
  switch (random.between(0, 8)) {
    case 0:
      return { ...batch, rows: lied(random, rows) };
    case 1: {
      const chosen = random.between(0, Math.max(0, nodes.length - 1));
      const lie = ([length, nulls]: readonly [number, number]): [number, number] =>
        random.chance(0.5) ? [lied(random, length), nulls] : [length, lied(random, nulls)];
      return { ...batch, nodes: nodes.map((node, index) => (index === chosen ? lie(node) : node)) };
    }
    case 2: {
      // All say the same untruth, so that only the buffers contradict it.
      const count = random.pick([0, 1, 2, 4, 5, 8, 2048, 5000, 2 ** 20]);
      return { ...batch, rows: count, nodes: nodes.map(([, nulls]) => [count, Math.min(nulls, count)] as const) };
    }
    case 3:
      return withBuffer((bytes) => bytes.subarray(0, random.between(0, bytes.length)));
    case 4:
      return withBuffer((bytes) => random.bytes(bytes.length + random.between(0, 9)));
    case 5:
      return withBuffer((bytes) => withNumber(random, Buffer.from(bytes)));
    case 6:
      return { ...batch, buffers: buffers.filter((_, index) => index !== at) };
    case 7:
      return { ...batch, buffers: [...buffers, random.pick([...buffers, new Uint8Array(8)])] };
    default:
      return { ...batch, viewedCounts: [lied(random, viewedCounts?.[0] ?? 0)] };
  }
}

function mutatedField(random: Random, field: RawField): RawField {
  const { type, children = [], dictionary } = field;
  if (children.length > 0 && random.chance(0.4)) {
    const chosen = random.between(0, children.length - 1);
    return {
      ...field,
      children: children.map((child, index) => (index === chosen ? mutatedField(random, child) : child)),
    };
  }
  const slots = Object.keys(type[1]).map(Number);
  switch (random.between(0, 6)) {
    case 0:
      return { ...field, type: [random.between(0, 27), type[1]] };
    case 1: {
      if (slots.length === 0) return { ...field, type: [type[0], { 0: i64(random.between(-1, 40)) }] };
      const bytes = random.pick([1, 2, 4, 8] as const);
      const value = Number(BigInt.asIntN(64, random.pick(edges)));
      return { ...field, type: [type[0], { ...type[1], [random.pick(slots)]: { bytes, value } }] };
    }
    case 2:
      return { ...field, children: [...children, field] };
    case 3:
      return { ...field, children: children.slice(1) };
    case 4:
      return {
        ...field,
        dictionary: { id: random.between(0, 10), bits: random.pick([0, 7, 8, 16, 32, 64]), signed: true },
      };
    case 5:
      if (dictionary === undefined) return { ...field, name: random.pick(['', 'a'.repeat(5000), '\0', '"', "');--"]) };
      return { name: field.name, type, children };
    default: {
      const extension = random.pick(['arrow.uuid', 'arrow.json', 'arrow.bool8', 'x']);
      const sqlType = random.pick(['UUID', 'JSON', 'NULL', 'DECIMAL(99,3)', 'STRUCT(a', 'INTEGER[]']);
      return { ...field, metadata: { 'ARROW:extension:name': extension, 'ARROW:FLIGHT:SQL:TYPE_NAME': sqlType } };
    }
  }
}
