/** One answer as it came over the wire. */
export interface ParsedAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** False where the connection ended before it did. */
  readonly isWhole: boolean;
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\t -~]*$/;
const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ?([\t -~\x80-\xff]*)$/;

/**
 * Splits what a server sent into its answers, 1xx left out. `methods` are those of the requests, as far as they are known:
 * an answer to HEAD has no body. Throws where anything is not HTTP to the letter.
 */
export function parseAnswers(bytes: Buffer, methods: readonly (string | undefined)[]): ParsedAnswer[] {
  const answers: ParsedAnswer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const endOfHead = bytes.indexOf('\r\n\r\n', at);
    if (endOfHead < 0) throw new Error(`the head of an answer breaks off: ${shown(bytes.subarray(at))}`);
    const [line = '', ...lines] = bytes.toString('latin1', at, endOfHead).split('\r\n');
    const status = Number(statusLine.exec(line)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`this is no status line: ${shown(line)}`);
    const headers = fieldsOf(lines);
    at = endOfHead + 4;
    if (status < 200) continue;
    // What is refused before it was a request has no id, and is answered with a body whatever it began with.
    const isToHead = methods[answers.length] === 'HEAD' && headers.has('x-request-id');
    const hasBody = !isToHead && status !== 204 && status !== 304;
    const { body, end, isWhole } = hasBody ? bodyAt(bytes, at, headers) : { body: empty, end: at, isWhole: true };
    answers.push({ status, headers, body, isWhole });
    at = end;
  }
  return answers;
}

const empty = Buffer.alloc(0);

function fieldsOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = field.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`this is no header: ${shown(line)}`);
    if (headers.has(name.toLowerCase())) throw new Error(`the header ${name} comes twice`);
    headers.set(name.toLowerCase(), value);
  }
  return headers;
}

interface Body {
  readonly body: Buffer;
  readonly end: number;
  readonly isWhole: boolean;
}

function bodyAt(bytes: Buffer, at: number, headers: ReadonlyMap<string, string>): Body {
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding !== undefined && length !== undefined) throw new Error('an answer has two lengths');
  if (coding === 'chunked') return chunksAt(bytes, at);
  if (coding !== undefined) throw new Error(`an answer has the Transfer-Encoding ${coding}`);
  if (length === undefined) {
    if (headers.get('connection') !== 'close') throw new Error('an answer has no length');
    return { body: bytes.subarray(at), end: bytes.length, isWhole: true };
  }
  if (!/^\d+$/.test(length)) throw new Error(`an answer has the length ${length}`);
  const end = at + Number(length);
  return { body: bytes.subarray(at, end), end: Math.min(end, bytes.length), isWhole: end <= bytes.length };
}

function chunksAt(bytes: Buffer, start: number): Body {
  const pieces: Buffer[] = [];
  for (let at = start; ; ) {
    const endOfLine = bytes.indexOf('\r\n', at);
    if (endOfLine < 0) return { body: Buffer.concat(pieces), end: bytes.length, isWhole: false };
    const line = bytes.toString('latin1', at, endOfLine);
    if (!/^[0-9a-f]+$/i.test(line)) throw new Error(`this is no length of a chunk: ${shown(line)}`);
    const size = Number.parseInt(line, 16);
    const end = endOfLine + 2 + size;
    if (end + 2 > bytes.length) return { body: Buffer.concat(pieces), end: bytes.length, isWhole: false };
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('a chunk does not end where it should');
    pieces.push(bytes.subarray(endOfLine + 2, end));
    at = end + 2;
    if (size === 0) return { body: Buffer.concat(pieces), end: at, isWhole: true };
  }
}

function shown(text: string | Buffer): string {
  return JSON.stringify(text.toString('latin1').slice(0, 200));
}
