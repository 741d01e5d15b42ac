import { AppError } from '../../../../../core/errors/app-error.ts';
import type { FileReport, Rejection } from '../../../../../core/rows/frame-engine.ts';

/** Left-out rows that are reported one by one. */
export const mostRejections = 20;

/** Rows of a file that cannot be read: the first of them ends the work, or all are left out and counted. */
export class Rejections {
  /** Whether bad rows are left out. */
  readonly skips: boolean;
  #first: Rejection[] = [];
  #count = 0;

  constructor(skipsBadRows: boolean) {
    this.skips = skipsBadRows;
  }

  add(rejection: Rejection): void {
    if (!this.skips) throw invalidRow(rejection);
    this.#count++;
    if (this.#first.length < mostRejections) this.#first.push(rejection);
  }

  /** More rows, of which only the first are known. */
  addCounted(count: number, first: readonly Rejection[]): void {
    this.#count += count;
    this.#first = [...this.#first, ...first].sort((a, b) => a.line - b.line).slice(0, mostRejections);
  }

  get report(): Pick<FileReport, 'rejectedRows' | 'rejections'> {
    return { rejectedRows: this.#count, rejections: this.#first };
  }
}

export function invalidRow({ line, column, reason }: Rejection): AppError {
  const place = column === undefined ? `line ${line}` : `line ${line}, column ${JSON.stringify(column)}`;
  const isEncoding = reason.includes('UTF-8');
  return new AppError('invalid_input', `${place}: ${reason}`, {
    hint: isEncoding
      ? 'save the file as UTF-8 (iconv -f WINDOWS-1252 -t UTF-8)'
      : 'correct the file, or leave such rows out with atomicity=skipRow',
  });
}
