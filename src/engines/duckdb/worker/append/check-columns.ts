import { type ReceivedField, unsupported, vectorBytes } from '@framehold/arrow-ipc';
import { AppError } from '../../../../core/errors/app-error.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';

const maxValueBytes = 64 * 1024;
const maxRowBytes = 256 * 1024;

/**
 * Refuses columns that a frame cannot have. A chunk of DuckDB has room for 2,048 values of every column, so that fixed
 * sizes multiply; and a reader of C strings would see only the beginning of a name with a NUL.
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

/** DuckDB compares names without regard to case and has no empty names. */
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
