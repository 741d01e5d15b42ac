import { AppError, type ErrorCode } from '../../core/errors/app-error.ts';

/** Why a body of line protocol is refused. */
export class LineError extends AppError {
  /** From 1, as the lines stand in the body. A row that goes over several lines is named by its first. */
  readonly line: number;

  constructor(line: number, message: string, options: { readonly code?: ErrorCode; readonly hint?: string } = {}) {
    super(options.code ?? 'invalid_input', message, { hint: options.hint });
    this.name = 'LineError';
    this.line = line;
  }
}
