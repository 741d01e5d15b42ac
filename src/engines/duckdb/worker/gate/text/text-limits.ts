import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Token } from '../../../../../core/text/tokens.ts';

/** A tree of 100,000 nodes takes DuckDB and us about half a second. */
const maxTokens = 100_000;
/** DuckDB's parser needs quadratic time in these: a quarter of a second for this number. */
const maxConjunctions = 8_000;
/** Binding takes time in powers of the depth for some functions: a minute for 1,000. */
const maxDepth = 100;

/** Refuses text that would keep DuckDB's parser or binder busy for long. */
export function checkTokens(tokens: readonly Token[]): void {
  if (tokens.length > maxTokens) {
    throw new AppError('sql_error', `the statement has more than ${maxTokens} words`, {
      hint: 'put the data as a frame instead',
    });
  }
  let conjunctions = 0;
  let depth = 0;
  for (const { kind, text, start, word } of tokens) {
    if ((kind === 'string' || kind === 'quoted') && /^u&/i.test(text)) {
      throw new AppError('sql_error', `${text.slice(0, 3)}… is not supported`, {
        position: start,
        hint: "write the characters themselves, or E'\\u0041'",
      });
    }
    if (kind === 'mark') {
      if (/[([{]/.test(text)) depth++;
      else if (/[)\]}]/.test(text)) depth--;
    } else if (word === 'and' || word === 'or') conjunctions++;
    else if (word === 'case') depth++;
    else if (word === 'end') depth--;
    if (depth > maxDepth) {
      throw new AppError('sql_error', `the statement is nested more than ${maxDepth} deep`, {
        position: start,
        hint: 'split it into several, or use WITH',
      });
    }
    if (conjunctions > maxConjunctions) {
      throw new AppError('sql_error', `the statement has more than ${maxConjunctions} conditions`, {
        position: start,
        hint: 'use IN (…) or a join with a frame of the values',
      });
    }
  }
}
