import fc from 'fast-check';
import { text } from './arbitrary-values.ts';

/** Frames that a test holds for these requests. */
export const heldHandles = ['nums', 'texts'] as const;

export const statements = `select 1
select * from nums
from nums limit 2
select 'a' || t from texts
select * from texts where t = $1
select $a + ?
select 1/0 as z
select error('x')
select nosuch from nums
select * from nosuch
select
select 1; select 2
-- only a comment
explain select 1
show tables
drop table nums
create table made as select 1 as a
insert into nums values (1)
attach ':memory:' as x
select * from read_csv('/etc/passwd')`.split('\n');

const words = `0 1 -1 1.5 1e9 007 NaN 9007199254740993 99999999999999999999 1,2 2,1 5, , ,5 true FALSE yes null json CSV xml
  none 1ms 0s -5s 1e3d 999999999999d a a,b "a,b" " "a a"b ; | ab [ {} .hidden -x ../../etc/passwd nums.parquet con`;

/** Values that some parameter takes, and values that none does. */
const values = [
  ...words.split(/\s+/),
  ...['', ' ', '\t', '\n', '\0', 'a\0b', 'x'.repeat(128), 'x'.repeat(129), 'x'.repeat(3000)],
  ...['a INT, a INT', "a TIMESTAMP 'yyyy'", 'a DECIMAL(99,1)', "a DATE '%Q'"],
  ...heldHandles,
  ...statements,
];

export const anyValue = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: text });

/** Values close to those that each parameter takes. */
const fitting: Readonly<Record<string, readonly string[]>> = {
  handle: [...heldHandles, 'nosuch'],
  name: [...heldHandles, 'made'],
  query: statements,
  engine: ['local', 'tsdb'],
  fmt: ['json', 'csv', 'tsv', 'ndjson', 'arrow', 'parquet', 'text'],
  format: ['json', 'csv', 'tsv', 'ndjson', 'arrow', 'parquet'],
  limit: ['0', '1', '2,3', '0,2', '5,', '9007199254740991', '9007199254740990,9007199254740991'],
  cols: ['a', 'b,a', 't', '"a"', 'a,a', 'A', ',', '"a'],
  order: ['handle', '-handle', 'created', '-rows', 'bytes', 'expires'],
  after: ['nums', 'eyJ', 'nums.1'],
  prefix: ['n', '', 'N', '%'],
  ttl: ['none', '15m', '90', '0', '1s'],
  delimiter: [';', '|', '\t', ':', '"', '\r', 'é', '=', ' ', '\\'],
  filename: ['a.csv', 'a"b', '../x', '🦆', '\r\nx: y'],
  compression_codec: ['zstd', 'snappy', 'gzip', 'brotli', 'lz4', 'lz4_raw', 'uncompressed'],
  compression_level: ['1', '22', '0', '-1'],
  timeout: ['1', '60', '0.5', '1e400'],
  schema: ['a INT', 'a VARCHAR, b DOUBLE', '[{"name":"a","type":"LONG"}]', "a DATE '%d'", '"a" DECIMAL(38,38)'],
  timestamp: ['a', 'ts'],
  atomicity: ['abort', 'skipRow', 'skipCol'],
  mode: ['create', 'overwrite', 'append'],
};
const flags = ['true', 'false', 'TRUE'];

/** A value that the parameter takes or nearly so, seldom any other. */
export function valueFor(name: string): fc.Arbitrary<string> {
  const near = fc.constantFrom(...((Object.hasOwn(fitting, name) ? fitting[name] : undefined) ?? flags));
  return fc.oneof({ weight: 5, arbitrary: near }, { weight: 1, arbitrary: anyValue });
}
