import { type ArrowField, arrowFields, schemaMessage, utf8Type } from '@framehold/arrow-ipc';
import type { DataType } from '@framehold/columns';

/** The parameters of a statement as an encapsulated schema: fields "1", "2", … or named by the parameters; empty without any. */
export function parameterSchema(types: readonly DataType[], names: readonly string[] = []): Uint8Array {
  if (types.length === 0) return new Uint8Array(0);
  const fields = arrowFields(types.map((type, index) => ({ name: names[index] ?? `${index + 1}`, type })));
  return schemaMessage(fields.map(settable));
}

/** Types in which JDBC 18 can set values: it sets none in a null column, and writes milliseconds whatever the unit. */
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
