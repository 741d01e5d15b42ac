/** What a reader that follows RFC 9112 to the letter finds in the bytes that a client sent. */
export interface SeenRequests {
  /** Those that are whole, in order. */
  readonly whole: readonly SeenRequest[];
  /** What follows them: nothing, a request that breaks off, or what is none. */
  readonly rest: 'nothing' | 'part' | 'malformed';
  /** Of the request that breaks off, where its head is whole. */
  readonly partMethod: string | undefined;
}

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
}

interface Head extends SeenRequest {
  readonly bodyBytes: number | 'chunked';
  readonly end: number;
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Node takes more than one space, and the other two for HTTP: no harm as long as everybody counts one request. */
const requestLine = /^(\S+) +([!-~\x80-\xff]+) +(?:HTTP|RTSP|ICE)\/\d\.\d$/;

class Malformed extends Error {}

/** Counts requests as strictly as one may: whatever a server sees beyond them was smuggled. */
export function seenRequests(bytes: Buffer): SeenRequests {
  const text = bytes.toString('latin1');
  const whole: SeenRequest[] = [];
  let partMethod: string | undefined;
  for (let at = 0; ; ) {
    // Node takes a bare end of a line before a request for an empty one, as RFC 9112 lets it.
    while (text[at] === '\r' || text[at] === '\n') at += 1;
    if (at >= text.length) return { whole, rest: 'nothing', partMethod: undefined };
    try {
      partMethod = undefined;
      const head = headAt(text, at);
      if (head === undefined) return { whole, rest: 'part', partMethod };
      partMethod = head.method;
      const end = head.bodyBytes === 'chunked' ? endOfChunks(text, head.end) : head.end + head.bodyBytes;
      if (end === undefined || end > text.length) return { whole, rest: 'part', partMethod };
      whole.push(head);
      // Whatever follows would be for somebody else.
      if (head.method === 'CONNECT') return { whole, rest: 'nothing', partMethod: undefined };
      at = end;
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      return { whole, rest: 'malformed', partMethod };
    }
  }
}

function headAt(text: string, at: number): Head | undefined {
  const endOfHead = text.indexOf('\r\n\r\n', at);
  const head = text.slice(at, endOfHead < 0 ? undefined : endOfHead);
  // Long before its end it may be clear that this will never be a request.
  if (endOfHead < 0) return undefined;
  const [line = '', ...fields] = head.split('\r\n');
  const [, method = '', target = ''] = requestLine.exec(line) ?? [];
  if (!token.test(method)) throw new Malformed('request line');
  const values = (name: string): string[] =>
    fields.map(fieldOf).flatMap((field) => (field.name === name ? [field.value] : []));
  return {
    method,
    target,
    bodyBytes: bodyOf(values('content-length'), values('transfer-encoding')),
    end: endOfHead + 4,
  };
}

function fieldOf(line: string): { name: string; value: string } {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  if (!token.test(name) || /[\0\r\n]/.test(line)) throw new Malformed('field');
  return { name: name.toLowerCase(), value: line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '') };
}

function bodyOf(lengths: readonly string[], codings: readonly string[]): number | 'chunked' {
  const [length = '0'] = lengths;
  if (codings.length > 0) {
    const named = codings.flatMap((value) => value.toLowerCase().split(/[ \t]*,[ \t]*/)).filter((name) => name !== '');
    if (lengths.length > 0 || named.join() !== 'chunked') throw new Malformed('Transfer-Encoding');
    return 'chunked';
  }
  if (lengths.length > 1 || !/^\d{1,15}$/.test(length)) throw new Malformed('Content-Length');
  return Number(length);
}

/** Where the body ends, trailers and all; undefined where it breaks off. */
function endOfChunks(text: string, start: number): number | undefined {
  for (let at = start; ; ) {
    const endOfLine = text.indexOf('\r\n', at);
    const line = text.slice(at, endOfLine < 0 ? undefined : endOfLine);
    if (endOfLine < 0) return undefined;
    const [, size = ''] = /^([0-9a-f]{1,8})[ \t]*(?:;[\t !-~\x80-\xff]*)?$/i.exec(line) ?? [];
    if (size === '') throw new Malformed('chunk');
    at = endOfLine + 2;
    const bytes = Number.parseInt(size, 16);
    if (bytes === 0) return endOfTrailers(text, at);
    if (text.length < at + bytes + 2) return undefined;
    if (!text.startsWith('\r\n', at + bytes)) throw new Malformed('end of chunk');
    at += bytes + 2;
  }
}

function endOfTrailers(text: string, start: number): number | undefined {
  if (text.startsWith('\r\n', start)) return start + 2;
  const end = text.indexOf('\r\n\r\n', start);
  if (end < 0) return undefined;
  for (const line of text.slice(start, end).split('\r\n')) fieldOf(line);
  return end + 4;
}
