type State = 'head' | 'fixed' | 'chunk-size' | 'chunk-data' | 'trailer';

const maxLineBytes = 16 * 1024;

/** Finds the ends of HTTP/1.1 answers in received bytes, and reads as few of them as that takes. */
export class ResponseCounter {
  #state: State = 'head';
  /** Bytes of the body, or of the chunk with its line end, that are still to come. */
  #left = 0;
  /** The start of a line or head whose end has not arrived. */
  #pending: Buffer | undefined;

  /** Whether no answer has begun. */
  get isBetween(): boolean {
    return this.#state === 'head' && this.#pending === undefined;
  }

  /** Takes received bytes; returns the number of answers that ended in them. The bytes may be overwritten afterwards. */
  take(received: Buffer): number {
    const bytes = this.#pending === undefined ? received : Buffer.concat([this.#pending, received]);
    this.#pending = undefined;
    let ended = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === 'fixed' || this.#state === 'chunk-data') {
        const step = Math.min(this.#left, bytes.length - at);
        at += step;
        this.#left -= step;
        if (this.#left > 0) continue;
        if (this.#state === 'chunk-data') {
          this.#state = 'chunk-size';
        } else {
          this.#state = 'head';
          ended++;
        }
        continue;
      }
      const mark = this.#state === 'head' ? '\r\n\r\n' : '\r\n';
      const end = bytes.indexOf(mark, at, 'latin1');
      if (end < 0) {
        if (bytes.length - at > maxLineBytes) throw new Error(`no end of a ${this.#state} in ${maxLineBytes} bytes`);
        this.#pending = Buffer.from(bytes.subarray(at));
        break;
      }
      if (this.#line(bytes, at, end)) ended++;
      at = end + mark.length;
    }
    return ended;
  }

  /** Returns whether the answer ends with this line or head. */
  #line(bytes: Buffer, from: number, to: number): boolean {
    switch (this.#state) {
      case 'head':
        return this.#head(bytes.toString('latin1', from, to), bytes, to + 4);
      case 'chunk-size': {
        const size = Number.parseInt(bytes.toString('latin1', from, to), 16);
        if (Number.isNaN(size)) throw new Error('a chunk without a size');
        this.#state = size === 0 ? 'trailer' : 'chunk-data';
        this.#left = size + 2;
        return false;
      }
      case 'trailer':
        if (to > from) return false;
        this.#state = 'head';
        return true;
      default:
        throw new Error(`no line is expected in ${this.#state}`);
    }
  }

  #head(head: string, bytes: Buffer, bodyAt: number): boolean {
    if (head.startsWith('HTTP/1.1 204 ')) return true;
    if (!head.startsWith('HTTP/1.1 200 ')) {
      throw new Error(`answered ${head.split('\r\n', 1)[0]}: ${bytes.toString('utf8', bodyAt, bodyAt + 300)}`);
    }
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length !== undefined) {
      this.#left = Number(length);
      if (this.#left === 0) return true;
      this.#state = 'fixed';
      return false;
    }
    if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('neither a length nor chunks in an answer');
    this.#state = 'chunk-size';
    return false;
  }
}
