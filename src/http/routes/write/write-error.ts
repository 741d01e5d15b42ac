import { AppError, errorCodes } from '../../../core/errors/app-error.ts';
import { LineError } from '../../../encoding/line-protocol/line-error.ts';
import { httpStatus } from '../../exchange/error-response.ts';
import type { JsonSchema } from '../../exchange/parameters.ts';

export const writeErrorSchema: JsonSchema = {
  type: 'object',
  description: 'Errors in the shape of QuestDB.',
  properties: {
    code: { type: 'string', enum: ['invalid', ...errorCodes], description: '`invalid` with status 400.' },
    message: { type: 'string', description: 'What is wrong, and in which line.' },
    line: { type: 'integer', minimum: 1, description: 'The line, where one is wrong; as it stands in the body.' },
    errorId: { type: 'string', description: 'The request, as the log names it.' },
  },
  required: ['code', 'message', 'errorId'],
};

/** An error as the clients of QuestDB and InfluxDB read it. */
export function writeErrorBody(error: AppError, { requestId }: { readonly requestId: string }): string {
  const line = error instanceof LineError ? error.line : undefined;
  const said = error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
  const message =
    line === undefined
      ? said
      : `failed to parse line protocol:errors encountered on line(s):\nerror in line ${line}: ${said}`;
  return JSON.stringify({
    code: httpStatus[error.code] === 400 ? 'invalid' : error.code,
    message,
    line,
    errorId: requestId,
  });
}

/** An error about the frame of a line. */
export function atLine(line: number, { code, message, hint }: AppError): LineError {
  return new LineError(line, message, { code, ...(hint !== undefined && { hint }) });
}

export function isCode(error: unknown, ...codesOf: readonly AppError['code'][]): error is AppError {
  return error instanceof AppError && codesOf.includes(error.code);
}
