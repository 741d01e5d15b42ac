import { type ByteSink, type DataType, plainBytes } from '@framehold/columns';
import type { JsonNumbers } from '../../core/rows/frame-engine.ts';
import { dateValues, intervalValues, timeValues } from '../values/calendar-values.ts';
import { Cell, type ValueWriter } from '../values/cell.ts';
import {
  arrayValues,
  listValues,
  mapEntriesValues,
  mapObjectValues,
  structValues,
  unionValues,
} from '../values/nested-values.ts';
import { decimalValues, float32Values, float64Values, int64Values, intValues } from '../values/number-values.ts';
import { binaryValues, jsonValues, utf8Values } from '../values/text-values.ts';
import { timestampValues } from '../values/timestamp-values.ts';

/** Reaches into arrays and structs. */
export interface CellForm extends JsonNumbers {
  /**
   * Dates without a time of day, and timestamps without a zone without `Z`: readers of the text get the same types again. /exec
   * writes both as points in time, as QuestDB does.
   */
  readonly keepsTypes: boolean;
}

/** For CSV and NDJSON. */
export const lineForm: CellForm = { quoteLargeNum: false, quoteNonFinite: false, keepsTypes: true };

/** Writes cells of a type as exec JSON. */
export function execCell(sink: ByteSink, type: DataType, form: CellForm): Cell {
  return new Cell(sink, execValues(sink, type, form));
}

export function execValues(sink: ByteSink, type: DataType, form: CellForm): ValueWriter {
  const { quoteLargeNum, quoteNonFinite, keepsTypes } = form;
  const cellOf = (inner: DataType): Cell => execCell(sink, inner, form);
  switch (type.kind) {
    case 'null':
      return { bind() {}, write: (_row, at) => sink.null(at) };
    case 'boolean':
      return booleanValues(sink);
    case 'int':
      if (type.bits === 128) return decimalValues(sink, 0, type.signed);
      if (type.bits === 64) return int64Values(sink, type.signed, quoteLargeNum || !type.signed);
      return intValues(sink, type.bits, type.signed, quoteLargeNum && type.bits === 32 && !type.signed);
    case 'float':
      return type.bits === 32 ? float32Values(sink, quoteNonFinite) : float64Values(sink, quoteNonFinite);
    case 'decimal':
      return decimalValues(sink, type.scale, true);
    case 'utf8':
    case 'uuid':
      return utf8Values(sink);
    case 'json':
      return jsonValues(sink);
    case 'binary':
      return binaryValues(sink);
    case 'date':
      return dateValues(sink, { hasTime: !keepsTypes, namesInfinity: quoteNonFinite });
    case 'time':
      return timeValues(sink, type.unit);
    case 'timestamp':
      return timestampValues(sink, type.unit, {
        hasZone: type.zoned || !keepsTypes,
        namesInfinity: quoteNonFinite,
      });
    case 'interval':
      return intervalValues(sink);
    case 'list':
      return listValues(sink, cellOf(type.element));
    case 'array':
      return arrayValues(sink, cellOf(type.element), type.size);
    case 'struct':
      return structValues(
        sink,
        type.fields.map((field) => field.name),
        type.fields.map((field) => cellOf(field.type)),
      );
    case 'map': {
      const mapValues = type.key.kind === 'utf8' ? mapObjectValues : mapEntriesValues;
      return mapValues(sink, cellOf(type.key), cellOf(type.value));
    }
    case 'union':
      return unionValues(
        sink,
        type.members.map((member) => cellOf(member.type)),
      );
    default:
      return type satisfies never;
  }
}

const TRUE = new TextEncoder().encode('true');
const FALSE = new TextEncoder().encode('false');

function booleanValues(sink: ByteSink): ValueWriter {
  let bits = new Uint8Array(0);
  return {
    bind(vector) {
      bits = plainBytes(vector.data);
    },
    write(row, at) {
      return sink.copy(at, (((bits[row >> 3] as number) >> (row & 7)) & 1) === 1 ? TRUE : FALSE);
    },
  };
}
