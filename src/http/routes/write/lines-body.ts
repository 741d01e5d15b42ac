import { AppError } from '../../../core/errors/app-error.ts';
import { decodeBody, parseContentEncoding } from '../../body/decode-body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import { isCode } from './write-error.ts';

/** A whole body of lines, unpacked. */
export async function linesBody(exchange: Exchange, given: BodyLimits): Promise<Uint8Array> {
  const limits = { ...given, takeMemory: (bytes: number) => exchange.takeMemory(bytes), lane: exchange.lane };
  const { 'content-encoding': coding, 'content-length': length } = exchange.requestHeaders;
  if (Number(length ?? 0) > limits.maxBodyBytes) throw tooLarge(limits);
  const raw = exchange.body(limits);
  try {
    return await exchange.hold(coding === undefined ? raw : decodeBody(raw, parseContentEncoding(coding), limits));
  } catch (error) {
    throw isCode(error, 'too_large') && error.hint?.includes('http.max_body') ? tooLarge(limits) : error;
  }
}

function tooLarge({ maxBodyBytes }: BodyLimits): AppError {
  return new AppError('too_large', `the body is larger than the ${maxBodyBytes} bytes allowed`, {
    hint: 'send fewer lines at once, or let the operator raise write.max_body',
  });
}
