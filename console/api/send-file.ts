import { ApiError } from './api-error.ts';
import { apiErrorOf } from './request.ts';
import { expireSession, token } from './session-token.ts';

export interface SendFileOptions {
  readonly signal: AbortSignal;
  /** Hears how many bytes were sent, up to all of them. */
  readonly onSent: (bytes: number) => void;
}

/**
 * Sends a file from the disk and gives the answer. Not by fetch, which does not tell how far it is. Rejects with an ApiError for
 * whatever is not a success.
 */
export function sendFile<T>(path: string, body: File | FormData, { signal, onSent }: SendFileOptions): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    signal.throwIfAborted();
    const xhr = new XMLHttpRequest();
    const asked = token.peek();
    const abort = (): void => xhr.abort();
    xhr.open('POST', path);
    if (asked !== undefined) xhr.setRequestHeader('authorization', `Bearer ${asked}`);
    // What the system takes the file for is often wrong.
    if (body instanceof File) xhr.setRequestHeader('content-type', 'application/octet-stream');
    xhr.upload.onprogress = ({ loaded }) => onSent(loaded);
    xhr.upload.onload = ({ loaded }) => onSent(loaded);
    xhr.onloadend = () => signal.removeEventListener('abort', abort);
    xhr.onabort = () => reject(signal.reason);
    xhr.onerror = () => {
      reject(
        new ApiError(0, 'unreachable', 'the connection broke off', {
          hint: 'the server may have refused the file while it came, or may not run any more',
        }),
      );
    };
    xhr.onload = () => {
      if (xhr.status === 401) expireSession(asked);
      if (xhr.status < 200 || xhr.status > 299) reject(apiErrorOf(xhr.status, xhr.responseText));
      else resolve(JSON.parse(xhr.responseText) as T);
    };
    signal.addEventListener('abort', abort);
    xhr.send(body);
  });
}
