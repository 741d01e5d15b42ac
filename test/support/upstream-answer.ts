export interface AnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The bytes of a well-formed response with a Content-Length. */
export function answer(body: string | Uint8Array = '{}', { status = 200, headers = {} }: AnswerOptions = {}): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([head(status, { 'Content-Length': String(bytes.length), ...headers }), bytes]);
}

/** The head of a chunked response, for a test that sends the chunks itself. */
export function chunkedHead({ status = 200, headers = {} }: AnswerOptions = {}): Buffer {
  return head(status, { 'Transfer-Encoding': 'chunked', ...headers });
}

export function chunk(body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const lastChunk = Buffer.from('0\r\n\r\n');

function head(status: number, headers: Readonly<Record<string, string>>): Buffer {
  const all = { 'Content-Type': 'application/json; charset=utf-8', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`);
}
