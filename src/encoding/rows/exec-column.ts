import type { Column, DataType } from '@framehold/columns';

/** An entry of `columns` in an exec result. `dim` and `elemType` only on arrays, as QuestDB has them. */
export interface ExecColumn {
  readonly name: string;
  readonly type: string;
  readonly dim?: number;
  readonly elemType?: string;
}

export function execColumn({ name, type }: Column): ExecColumn {
  if (type.kind !== 'list' && type.kind !== 'array') return { name, type: execType(type) };
  let dim = 0;
  let element: DataType = type;
  while (element.kind === 'list' || element.kind === 'array') {
    dim++;
    element = element.element;
  }
  return { name, type: 'ARRAY', dim, elemType: execType(element) };
}

function execType(type: DataType): string {
  switch (type.kind) {
    case 'null':
    case 'utf8':
      return 'VARCHAR';
    case 'boolean':
      return 'BOOLEAN';
    case 'int':
      return type.signed ? signedTypes[type.bits] : unsignedTypes[type.bits];
    case 'float':
      return type.bits === 32 ? 'FLOAT' : 'DOUBLE';
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`;
    case 'uuid':
      return 'UUID';
    case 'binary':
      return 'BINARY';
    case 'date':
      return 'DATE';
    case 'time':
      return 'TIME';
    case 'timestamp':
      return type.unit === 'ns' ? 'TIMESTAMP_NS' : 'TIMESTAMP';
    case 'interval':
      return 'INTERVAL';
    case 'list':
    case 'array':
      return 'ARRAY';
    case 'json':
    case 'struct':
    case 'map':
    case 'union':
      return 'JSON';
    default:
      return type satisfies never;
  }
}

const signedTypes = { 8: 'BYTE', 16: 'SHORT', 32: 'INT', 64: 'LONG', 128: 'DECIMAL(39,0)' } as const;
const unsignedTypes = { 8: 'SHORT', 16: 'INT', 32: 'LONG', 64: 'DECIMAL(20,0)', 128: 'DECIMAL(39,0)' } as const;
