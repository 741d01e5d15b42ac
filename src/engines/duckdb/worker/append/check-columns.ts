import { AppError } from '../../../../core/app-error.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { type ReceivedField, unsupported } from '../../../../encoding/arrow/read/format/schema.ts';
import { vectorBytes } from '../../../../encoding/arrow/read/vectors/column-slices.ts';

const maxValueBytes = 64 * 1024;
const maxRowBytes = 256 * 1024;

/**
 * Refuses what cannot be the columns of a frame. A chunk of DuckDB has room for 2,048 values of every column, so that fixed
 * sizes multiply; and whoever takes names as C does would read only the beginning of one with a NUL.
 */
export function checkColumns(fields: readonly ReceivedField[]): void {
  let total = 0;
  for (const field of fields) {
    if (field.name.includes('\0')) throw unsupported(field, 'a NUL in its name', 'rename the column');
    const bytes = vectorBytes(field);
    if (bytes > maxValueBytes)
      throw unsupported(field, `fixed-size lists of ${bytes} bytes a row (at most ${maxValueBytes})`);
    total += bytes;
    checkMembers(field);
  }
  if (total > maxRowBytes) throw new AppError('too_large', 'the Arrow schema has too many columns');
}

/** DuckDB tells names apart without regard to case, and knows none that is empty. */
function checkMembers(field: ReceivedField): void {
  const { type, children } = field;
  if (type.kind === 'struct' || type.kind === 'union') {
    if (children.length === 0) throw unsupported(field, 'a struct or union without fields');
    const taken = new Set<string>();
    for (const { name } of children) {
      if (name === '' || name.includes('\0')) {
        throw unsupported(field, 'a struct or union with a field without a proper name');
      }
      const folded = asciiLower(name);
      if (taken.has(folded))
        throw unsupported(field, `the field name ${JSON.stringify(name)} twice, by case or exactly`);
      taken.add(folded);
    }
  }
  // DuckDB has names of its own for the key and value of a map.
  const checked = type.kind === 'map' ? children.flatMap((entries) => entries.children) : children;
  checked.forEach(checkMembers);
}
