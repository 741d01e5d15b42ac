import { type DataType, fixedSizeBytes } from '@framehold/columns';
import type { ColumnWriter } from './column-writer.ts';
import { BooleanColumn, BytesColumn, FixedColumn, NullColumn } from './flat-columns.ts';
import { IntervalColumn } from './intervals.ts';
import { ArrayColumn, ListColumn, RequiredColumn, StructColumn, UnionColumn } from './nested-columns.ts';
import { WideIntegerColumn } from './wide-integers.ts';

export function writerForType(type: DataType): ColumnWriter {
  switch (type.kind) {
    case 'null':
      return new NullColumn();
    case 'boolean':
      return new BooleanColumn();
    case 'int':
      return type.bits === 128 ? new WideIntegerColumn(type) : new FixedColumn(fixedSizeBytes(type));
    case 'float':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'decimal':
      return new FixedColumn(fixedSizeBytes(type));
    case 'interval':
      return new IntervalColumn();
    case 'utf8':
    case 'json':
    case 'uuid':
    case 'binary':
      return new BytesColumn();
    case 'list':
      return new ListColumn(writerForType(type.element));
    case 'map': {
      const key = new RequiredColumn(writerForType(type.key));
      return new ListColumn(new RequiredColumn(new StructColumn([key, writerForType(type.value)])));
    }
    case 'array':
      return new ArrayColumn(writerForType(type.element), type.size);
    case 'struct':
      return new StructColumn(type.fields.map((field) => writerForType(field.type)));
    case 'union':
      return new UnionColumn(type.members.map((member) => writerForType(member.type)));
    default:
      return type satisfies never;
  }
}
