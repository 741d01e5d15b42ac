const statusLine = Buffer.from('HTTP/1.1 200 OK\r\n');
const secondStatusLine = /\r\nHTTP\/1\.1 [45]\d\d [ -~]*\r\n/;
const endOfHead = Buffer.from('\r\n\r\n');
/** Undici's limit for a head. */
const mostBytes = 16 * 1024;

/**
 * A statement of QuestDB that fails before its first rows are sent (up to 2 MiB of them) leaves the head of its 200 without an
 * end, and right behind it come the whole head and body of a 400. No strict parser accepts that. Clients in Python and Java read
 * status 200 and the body, and so do ours: the first head becomes its status line. All other bytes go to the parser unchanged.
 */
export class BegunTwice {
  #head: Buffer | undefined;

  /** The next bytes begin an answer. */
  expectHead(): void {
    this.#head = Buffer.alloc(0);
  }

  /** The bytes for the parser; none while the head may still turn out to be one of two. */
  arrived(chunk: Buffer): Buffer | undefined {
    if (this.#head === undefined) return chunk;
    const bytes = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = bytes.indexOf(endOfHead);
    if (end < 0 && bytes.length < mostBytes && mayBegin(bytes)) {
      this.#head = bytes;
      return undefined;
    }
    this.#head = undefined;
    return end < 0 || end > mostBytes ? bytes : withoutFirstHead(bytes, end);
  }

  /** The held bytes when the connection ended. */
  ended(): Buffer | undefined {
    const held = this.#head;
    this.#head = undefined;
    return held?.length === 0 ? undefined : held;
  }
}

function mayBegin(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, statusLine.length);
  return bytes.compare(statusLine, 0, length, 0, length) === 0;
}

function withoutFirstHead(bytes: Buffer, end: number): Buffer {
  if (!mayBegin(bytes) || !bytes.subarray(0, end).includes('\r\nHTTP/1.1 ')) return bytes;
  const [firstHead = '', ...others] = bytes.toString('latin1', 0, end + 2).split(secondStatusLine);
  if (others.length !== 1) return bytes;
  const second = bytes.indexOf('\r\n', firstHead.length + 2) + 2;
  return Buffer.concat([statusLine, bytes.subarray(second)]);
}
