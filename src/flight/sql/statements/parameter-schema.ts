import type { DataType } from '../../../core/data-type.ts';
import { arrowFields } from '../../../encoding/arrow/types/arrow-columns.ts';
import type { ArrowField } from '../../../encoding/arrow/types/arrow-field.ts';
import { utf8Type } from '../../../encoding/arrow/types/arrow-type.ts';
import { schemaMessage } from '../../../encoding/arrow/write/schema-message.ts';

/** What a statement takes, in an encapsulated schema: fields "1", "2", … or of the parameters' own names; nothing when it takes nothing. */
export function parameterSchema(types: readonly DataType[], names: readonly string[] = []): Uint8Array {
  if (types.length === 0) return new Uint8Array(0);
  const fields = arrowFields(types.map((type, index) => ({ name: names[index] ?? `${index + 1}`, type })));
  return schemaMessage(fields.map(settable));
}

/** In types in which JDBC 18 can set values: it sets none in a null column, and writes milliseconds whatever the unit. */
function settable(field: ArrowField): ArrowField {
  const { type } = field;
  switch (type.kind) {
    case 'null':
      return { ...field, type: utf8Type };
    case 'time':
    case 'timestamp':
      return { ...field, type: { ...type, unit: 'ms' } };
    default:
      return field;
  }
}
