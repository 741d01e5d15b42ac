import type { DeclaredField, DeclaredType } from './data-type.ts';
import { sqlName, sqlString } from './sql-quotes.ts';

/** The type as DuckDB's SQL writes it. */
export function sqlTypeName(type: DeclaredType): string {
  switch (type.kind) {
    case 'null':
      return '"NULL"';
    case 'boolean':
      return 'BOOLEAN';
    case 'int':
      return `${type.signed ? '' : 'U'}${integerNames[type.bits]}`;
    case 'float':
      return type.bits === 32 ? 'FLOAT' : 'DOUBLE';
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'utf8':
      return 'VARCHAR';
    case 'enum':
      return `ENUM(${type.values.map(sqlString).join(', ')})`;
    case 'bit':
    case 'bignum':
    case 'variant':
    case 'geometry':
      return type.kind.toUpperCase();
    case 'zonedTime':
      return 'TIME WITH TIME ZONE';
    case 'json':
      return 'JSON';
    case 'uuid':
      return 'UUID';
    case 'binary':
      return 'BLOB';
    case 'date':
      return 'DATE';
    case 'time':
      return type.unit === 'ns' ? 'TIME_NS' : 'TIME';
    case 'timestamp':
      return type.zoned ? 'TIMESTAMP WITH TIME ZONE' : timestampNames[type.unit];
    case 'interval':
      return 'INTERVAL';
    case 'list':
      return `${sqlTypeName(type.element)}[]`;
    case 'array':
      return `${sqlTypeName(type.element)}[${type.size}]`;
    case 'struct':
      return `STRUCT(${memberList(type.fields)})`;
    case 'map':
      return `MAP(${sqlTypeName(type.key)}, ${sqlTypeName(type.value)})`;
    case 'union':
      return `UNION(${memberList(type.members)})`;
    default:
      return type satisfies never;
  }
}

const integerNames = { 8: 'TINYINT', 16: 'SMALLINT', 32: 'INTEGER', 64: 'BIGINT', 128: 'HUGEINT' } as const;
const timestampNames = { s: 'TIMESTAMP_S', ms: 'TIMESTAMP_MS', us: 'TIMESTAMP', ns: 'TIMESTAMP_NS' } as const;

function memberList(members: readonly DeclaredField[]): string {
  return members.map(({ name, type }) => `${memberName(name)} ${sqlTypeName(type)}`).join(', ');
}

function memberName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !KEYWORDS.has(name.toLowerCase()) ? name : sqlName(name);
}

/** `duckdb_keywords()` without the unreserved ones. DuckDB quotes those too, but reads them bare as well. */
const KEYWORDS: ReadonlySet<string> = new Set(
  `all analyse analyze and anti any array as asc asof asymmetric at authorization between bigint binary bit boolean
  both by case cast char character check coalesce collate collation column columns concurrently constraint create
  cross dec decimal default deferrable desc describe distinct do else end except exists extract false fetch float
  for foreign freeze from full generated glob group grouping grouping_id having ilike in initially inner inout int
  integer intersect interval into is isnull join lambda lateral leading left like limit map national natural nchar
  none not notnull null nullif numeric offset on only or order out outer overlaps overlay pivot pivot_longer
  pivot_wider placing position positional precision primary qualify real references returning right row select
  semi setof show similar smallint some struct substring summarize symmetric table tablesample then time timestamp
  to trailing treat trim true try_cast union unique unpack unpivot using values varchar variadic verbose when
  where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
  xmlserialize xmltable`.split(/\s+/),
);
