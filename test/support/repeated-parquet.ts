import { encoding, fileFooter, parquetType, rowGroup, ThriftWriter } from '@framehold/parquet';

const mark = Buffer.from('PAR1');

export interface RepeatedParquet {
  readonly groupRows: number;
  readonly groups: number;
  /** The footer says that all row groups are the same bytes. Default: each has its own. */
  readonly overlaps?: boolean;
}

/** A Parquet file of zeros, in some row groups that are all alike: few bytes for many rows. */
export function repeatedParquet({ groupRows, groups, overlaps = false }: RepeatedParquet): Buffer {
  const { dictionary, data } = chunkOfZeros(groupRows);
  const chunk = Buffer.concat([dictionary, data]);
  const copies = overlaps ? 1 : groups;
  const type = parquetType({ kind: 'int', bits: 8, signed: true });
  if (type === undefined) throw new Error('there is no such type');
  const columns = [{ name: 'a', type }];
  const footer = fileFooter({
    columns,
    groups: Array.from({ length: groups }, (_, n) => {
      const offset = mark.length + (n % copies) * chunk.length;
      return rowGroup(
        groupRows,
        [{ offset, bytes: chunk.length, dictionaryBytes: dictionary.length, nulls: 0, range: undefined }],
        columns,
      );
    }),
    metadata: new Map(),
  });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([mark, ...Array.from({ length: copies }, () => chunk), footer, length, mark]);
}

/** A dictionary of one value, and a run of its number. */
function chunkOfZeros(rows: number): { readonly dictionary: Buffer; readonly data: Buffer } {
  const run = varint(rows * 2);
  const levels = Buffer.concat([run, Buffer.of(1)]);
  const levelBytes = Buffer.alloc(4);
  levelBytes.writeUInt32LE(levels.length);
  const bitWidth = Buffer.of(1);
  return {
    dictionary: page(2, 7, [1, encoding.plain], Buffer.alloc(4)),
    data: page(
      0,
      5,
      [rows, encoding.dictionary, encoding.levels, encoding.levels],
      Buffer.concat([levelBytes, levels, bitWidth, run, Buffer.of(0)]),
    ),
  };
}

function page(kind: number, field: number, facts: readonly number[], content: Buffer): Buffer {
  const header = new ThriftWriter();
  header.i32(1, kind);
  header.i32(2, content.length);
  header.i32(3, content.length);
  header.struct(field, () => {
    for (const [index, fact] of facts.entries()) header.i32(index + 1, fact);
  });
  return Buffer.concat([header.end(), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.of(...bytes, rest);
}
