import type { Socket } from 'node:net';
import { AppError } from '../../core/errors/app-error.ts';
import { errorBody, httpStatus, jsonContentType } from '../exchange/error-response.ts';

/** Time for a client that still sends to read its answer. */
const lingerMs = 1000;

const noSniffing = 'X-Content-Type-Options: nosniff';

const answered = new WeakSet<Socket>();

/** Answers requests that Node's parser refused, before there is a request object. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  // The parser refuses each piece of the rest anew.
  if (answered.has(socket)) return;
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  answered.add(socket);
  socket.end(answerTo(error.code));
  // The kernel resets a connection that is closed before all of it was read, and a reset takes the answer with it.
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

/** For a client that sends HTTP where TLS is expected. */
export function answerWithoutTls(): string {
  return response(new AppError('invalid_input', 'this port speaks TLS', { hint: 'use https' }), 'Bad Request');
}

function answerTo(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return response(
        new AppError('request_too_long', 'the request target and headers are longer than 16 KiB together', {
          hint: 'shorten the query string or the headers',
        }),
        'Request Header Fields Too Large',
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return `HTTP/1.1 408 Request Timeout\r\n${noSniffing}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    default:
      return response(new AppError('invalid_input', 'this is not a well-formed HTTP request'), 'Bad Request');
  }
}

function response(error: AppError, reason: string): string {
  const body = errorBody(error, undefined);
  return [
    `HTTP/1.1 ${httpStatus[error.code]} ${reason}`,
    `Content-Type: ${jsonContentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    noSniffing,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
