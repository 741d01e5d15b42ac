import type { Column } from '@framehold/columns';
import { AppError } from '../../core/errors/app-error.ts';
import type { FrameName } from '../../core/names/frame-name.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';

/** The most columns that a frame may have, if it came as Arrow. */
const mostNames = 20_000;

/** The columns of these names, in their order; among columns of the same name, the first. */
export function selectColumns(
  handle: FrameName,
  columns: readonly Column[],
  names: readonly string[] | undefined,
): readonly Column[] {
  if (names === undefined) return columns;
  if (names.length > mostNames) {
    throw new AppError('too_large', `${names.length} columns are named, and at most ${mostNames} are read at once`);
  }
  const byName = new Map<string, Column>();
  for (const column of columns) if (!byName.has(column.name)) byName.set(column.name, column);
  return names.map((name) => {
    const column = byName.get(name);
    if (column === undefined) {
      const shown = JSON.stringify(name.slice(0, 100));
      const meant = didYouMean(name, byName.keys());
      throw new AppError('invalid_parameter', `column ${shown} not found in ${handle}${meant}`, {
        hint: `its columns are ${[...byName.keys()].slice(0, 50).join(', ')}`,
      });
    }
    return column;
  });
}
