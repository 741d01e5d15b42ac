import { bitAt } from '../../../encoding/arrow/input/arrow-bits.ts';
import { int32View } from '../../../encoding/arrow/input/arrow-column.ts';
import type { ArrowType } from '../../../encoding/arrow/input/arrow-schema.ts';
import { outOfRange } from './arrow-int64.ts';
import { rowAt } from './arrow-rows.ts';
import type { StoreTask } from './arrow-scratch.ts';

/** DuckDB keeps a decimal in as few bytes as its precision needs. */
export function storeDecimals({ column, rows, present, scratch, target }: StoreTask): void {
  const { precision, bits } = column.field.type as ArrowType & { kind: 'decimal' };
  const storedBytes = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
  const storedWords = Math.max(storedBytes / 4, 1);
  const sourceWords = bits / 32;
  const values = int32View(column.data, column.length * sourceWords);
  const limit = 10 ** precision;
  const { words, bytes } = scratch.prepare(rows.count * storedBytes);

  for (let index = 0; index < rows.count; index++) {
    const row = present === null || bitAt(present, index) ? rowAt(rows, index) : -1;
    const from = row * sourceWords;
    if (row >= 0 && !fits(values, from, sourceWords, limit)) {
      if (!fitsExactly(values, from, sourceWords, precision)) throw outOfRange(column.field.label, row);
    }
    if (storedBytes === 2) {
      const value = row < 0 ? 0 : (values[from] as number);
      bytes[index * 2] = value;
      bytes[index * 2 + 1] = value >> 8;
      continue;
    }
    const sign = row < 0 ? 0 : (values[from + sourceWords - 1] as number) >> 31;
    for (let n = 0; n < storedWords; n++) {
      words[index * storedWords + n] = row < 0 || n >= sourceWords ? sign : (values[from + n] as number);
    }
  }
  scratch.copyTo(target, rows.count * storedBytes);
}

/** Whether a value has no more digits than allowed; a value near the limit is left to the exact test. */
function fits(values: Int32Array, from: number, words: number, limit: number): boolean {
  let approximate = values[from + words - 1] as number;
  for (let n = words - 2; n >= 0; n--) approximate = approximate * 2 ** 32 + ((values[from + n] as number) >>> 0);
  return Math.abs(approximate) < limit * (1 - 1e-12);
}

function fitsExactly(values: Int32Array, from: number, words: number, precision: number): boolean {
  let exact = BigInt(values[from + words - 1] as number);
  for (let n = words - 2; n >= 0; n--) exact = (exact << 32n) | BigInt((values[from + n] as number) >>> 0);
  const limit = 10n ** BigInt(precision);
  return exact > -limit && exact < limit;
}
