import { type ByteSink, type DataType, plainBytes, QUOTE, type Vector } from '@framehold/columns';
import type { ValueWriter } from '../values/cell.ts';
import { textWriter } from '../values/utf8-values.ts';
import { type CsvWriteOptions, quotedBytes } from './csv-options.ts';
import { csvText } from './csv-text.ts';
import { csvDateValues, csvFloatValues, csvJsonValues } from './csv-values.ts';
import { execValues, lineForm } from './exec-cell.ts';

/**
 * The output of a writer. `field`: the field itself. `string`: a JSON string of plain ASCII, whose field is between its quotes;
 * or a text without quotes, for values without a text.
 */
type Puts = 'field' | 'string';

/** The fields of a column. NULL is an empty field, and an empty text two quotes. */
export class CsvCell {
  readonly #sink: ByteSink;
  readonly #values: ValueWriter;
  readonly #write: ValueWriter['write'];
  readonly #puts: Puts;
  readonly #keepsQuotes: boolean;
  #validity: Uint8Array | null = null;

  constructor(sink: ByteSink, values: ValueWriter, puts: Puts, keepsQuotes: boolean) {
    this.#sink = sink;
    this.#values = values;
    this.#write = values.write;
    this.#puts = puts;
    this.#keepsQuotes = keepsQuotes;
  }

  bind(vector: Vector): void {
    this.#validity = vector.validity === null ? null : plainBytes(vector.validity);
    this.#values.bind(vector);
  }

  /** Puts `lead` at `at` and the field behind it; returns where it ends. */
  write(row: number, at: number, lead: number): number {
    const validity = this.#validity;
    const isNull = validity !== null && (((validity[row >> 3] as number) >> (row & 7)) & 1) === 0;
    let end = at + 1;
    if (!isNull) end = this.#puts === 'field' ? this.#write(row, end) : this.#writeString(row, at);
    this.#sink.byte(at, lead);
    return end;
  }

  /** The quote before the text is written to the place of `lead`, and the next byte over the one behind it. */
  #writeString(row: number, at: number): number {
    const sink = this.#sink;
    const start = this.#keepsQuotes ? at + 1 : at;
    const end = this.#write(row, start);
    if (sink.bytes[start] !== QUOTE) return at + 1;
    if (this.#keepsQuotes) return end;
    if (end > at + 2) return end - 1;
    return sink.byte(sink.byte(at + 1, QUOTE), QUOTE);
  }
}

export function csvCell(sink: ByteSink, type: DataType, options: CsvWriteOptions): CsvCell {
  // Characters that the strings of `string` may hold.
  const keepsQuotes = ':=/'.includes(options.delimiter);
  const cell = (puts: Puts, values: ValueWriter): CsvCell => new CsvCell(sink, values, puts, keepsQuotes);
  const ofJson = (): ValueWriter => execValues(sink, type, lineForm);
  switch (type.kind) {
    case 'null':
    case 'boolean':
      return cell('field', ofJson());
    case 'int':
      return cell(type.bits === 128 || (type.bits === 64 && !type.signed) ? 'string' : 'field', ofJson());
    case 'float':
      return cell('field', csvFloatValues(sink, type.bits));
    case 'date':
      return cell('field', csvDateValues(sink));
    case 'decimal':
    case 'time':
    case 'timestamp':
    case 'interval':
    case 'binary':
      return cell('string', ofJson());
    case 'utf8':
      return cell('field', textWriter(csvText(sink, options)));
    case 'uuid':
    case 'json':
      return cell('field', textWriter(csvText(sink, { ...options, escapesFormulas: false })));
    case 'list':
    case 'array':
    case 'struct':
    case 'map':
    case 'union':
      return cell('field', csvJsonValues(sink, ofJson(), quotedBytes(options)));
    default:
      return type satisfies never;
  }
}
