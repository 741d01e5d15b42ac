import { bitAt } from '../../../../encoding/arrow/read/columns/bits.ts';
import { int32View } from '../../../../encoding/arrow/read/columns/column.ts';
import type { ArrowType } from '../../../../encoding/arrow/read/format/schema.ts';
import { hasDigits } from '../../../../encoding/arrow/read/numbers/digits.ts';
import { outOfRange } from '../../../../encoding/arrow/read/numbers/int64.ts';
import { rowAt } from './rows.ts';
import type { StoreTask } from './scratch.ts';

/** DuckDB keeps a decimal in as few bytes as its precision needs. */
export function storeDecimals({ column, rows, present, scratch, target }: StoreTask): void {
  const { precision, bits } = column.field.type as ArrowType & { kind: 'decimal' };
  const storedBytes = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
  const storedWords = Math.max(storedBytes / 4, 1);
  const sourceWords = bits / 32;
  const values = int32View(column.data, column.length * sourceWords);
  const { words, bytes } = scratch.prepare(rows.count * storedBytes);

  for (let index = 0; index < rows.count; index++) {
    const row = present === null || bitAt(present, index) ? rowAt(rows, index) : -1;
    const from = row * sourceWords;
    if (row >= 0 && !hasDigits(values, from, sourceWords, precision)) throw outOfRange(column.field.label, row);
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
