import { AppError } from '../errors/app-error.ts';

/** The tokens of an SQL text without the semicolons around them. Throws where there is no statement, or a second one. */
export function oneStatement<T extends { readonly start: number }>(
  tokens: readonly T[],
  isEnd: (token: T) => boolean,
): readonly T[] {
  const first = tokens.findIndex((token) => !isEnd(token));
  if (first < 0)
    throw new AppError('sql_error', 'the statement is empty', { position: 0, hint: 'for example: SHOW TABLES' });
  const end = tokens.findIndex((token, index) => index > first && isEnd(token));
  if (end < 0) return tokens.slice(first);
  const second = tokens.slice(end).find((token) => !isEnd(token));
  if (second === undefined) return tokens.slice(first, end);
  throw new AppError('sql_error', 'only one statement at a time', {
    position: second.start,
    hint: 'send each statement as a request of its own',
  });
}
