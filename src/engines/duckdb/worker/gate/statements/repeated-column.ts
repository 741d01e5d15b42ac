import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';

/** A frame could keep both, but SQL would know the second only under another name. */
export function repeatedColumn(name: string, position: number): AppError {
  return new AppError('sql_error', `column ${sqlName(name)} is there already; case does not tell names apart`, {
    hint: 'give each column another name',
    position,
  });
}
