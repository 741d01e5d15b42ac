import { AppError } from '../../core/app-error.ts';

/** Where no route answers. */
export function nothingAt(path: string, answered: readonly string[]): AppError {
  return new AppError('not_found', `there is nothing at ${path.slice(0, 200)}`, {
    hint: `this server answers ${answered.join(', ')}`,
  });
}
