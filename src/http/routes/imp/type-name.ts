import { type DataType, parseSqlType, sqlTypeNames } from '@framehold/columns';
import { didYouMean } from '../../../core/text/did-you-mean.ts';
import { invalidParameter } from '../../exchange/parameters.ts';

const text = { kind: 'utf8' } as const;

/** QuestDB's type names that SQL does not have. Its special types (IPv4, geohashes, LONG256) stay text. */
const questdbTypes: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ['BYTE', { kind: 'int', bits: 8, signed: true }],
  ['SHORT', { kind: 'int', bits: 16, signed: true }],
  ['LONG', { kind: 'int', bits: 64, signed: true }],
  ['SYMBOL', text],
  ['STRING', text],
  ['CHAR', text],
  ['IPV4', text],
  ['GEOHASH', text],
  ['LONG256', text],
]);

/** Their length, if one is given, changes nothing. */
const sized = /^(STRING|VARCHAR|CHAR|CHARACTER|CHARACTER VARYING|TEXT|GEOHASH) ?\([^()]*\)$/;
const notInText = new Set<DataType['kind']>(['binary', 'list', 'interval']);

/** Rejects with `invalid_parameter` a name of no type that text can be read as. */
export function parseTypeName(name: string): DataType {
  const plain = name.trim().toUpperCase().replaceAll(/\s+/g, ' ');
  const word = sized.exec(plain)?.[1] ?? plain;
  const type = questdbTypes.get(word) ?? parseSqlType(word);
  if (type !== undefined && !notInText.has(type.kind)) return type;
  if (type !== undefined || /^(?:BINARY|BYTEA|VARBINARY)\b/.test(word)) {
    throw invalidParameter('type', name, 'it cannot be read from text: take VARCHAR, or send Parquet or Arrow');
  }
  if (/^(?:DECIMAL|NUMERIC|DEC)\b/.test(word)) {
    throw invalidParameter('type', name, 'it has 1 to 38 digits, not fewer than those behind the point');
  }
  const names = [...questdbTypes.keys(), ...sqlTypeNames];
  const nearest = didYouMean(word.slice(0, 100).replace(/ ?\(.*/, ''), names);
  throw invalidParameter('type', name, `it is one of ${names.join(', ')}, DECIMAL(p,s)${nearest}`);
}
