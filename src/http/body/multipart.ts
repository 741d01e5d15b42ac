import { AppError } from '../../core/errors/app-error.ts';
import { type PartHead, parsePartHead } from './multipart-head.ts';
import { UploadReader } from './upload-reader.ts';

export interface BodyPart extends PartHead {
  /** Must be read to its end before the next part. */
  readonly body: AsyncGenerator<Buffer, void, undefined>;
}

const maxHeadBytes = 16 * 1024;
const lineEnd = Buffer.from('\r\n');

/**
 * The parts of a form (RFC 7578) as they arrive; nothing of a part is kept. Written by hand because this form has two parts and
 * is pulled: the available parsers push, with a stream and its errors to handle for every part.
 */
export class Multipart {
  readonly #reader: UploadReader;
  readonly #delimiter: Buffer;

  constructor(body: AsyncIterable<Buffer>, boundary: string) {
    // The line end before a boundary belongs to it, and the first has none.
    this.#reader = new UploadReader(startingWith(lineEnd, body));
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  async *parts(): AsyncGenerator<BodyPart, void, undefined> {
    try {
      for await (const _ of this.#untilBoundary()) {
        // Text before the first boundary is a preamble for people.
      }
      while (await this.#opensPart()) {
        const head = parsePartHead(await this.#headLines());
        yield { ...head, body: this.#untilBoundary() };
      }
      for await (const _ of this.#reader.rest()) {
        // Text behind the last boundary is ignored, too.
      }
    } finally {
      this.#reader.release();
    }
  }

  async *#untilBoundary(): AsyncGenerator<Buffer, void, undefined> {
    const reader = this.#reader;
    for (;;) {
      const at = reader.buffered.indexOf(this.#delimiter);
      if (at > 0) yield reader.take(at);
      if (at >= 0) {
        reader.take(this.#delimiter.length);
        return;
      }
      const free = reader.buffered.length - this.#delimiter.length + 1;
      if (free > 0) yield reader.take(free);
      await this.#need(reader.buffered.length + 1);
    }
  }

  /** Behind a boundary: `--` closes the form. */
  async #opensPart(): Promise<boolean> {
    await this.#need(2);
    if (this.#reader.buffered.toString('latin1', 0, 2) === '--') return false;
    if ((await this.#line(maxHeadBytes)).trim() === '') return true;
    throw malformed('a boundary is followed by something else than a line end');
  }

  async #headLines(): Promise<string[]> {
    const lines: string[] = [];
    for (let left = maxHeadBytes; ; ) {
      const line = await this.#line(left);
      if (line === '') return lines;
      left -= line.length;
      lines.push(line);
    }
  }

  async #line(maxBytes: number): Promise<string> {
    const reader = this.#reader;
    for (;;) {
      const at = reader.buffered.indexOf(lineEnd);
      if (at > maxBytes || (at < 0 && reader.buffered.length > maxBytes)) {
        throw malformed(`the headers of a part are longer than ${maxHeadBytes} bytes`);
      }
      if (at >= 0) {
        const line = reader.take(at).toString();
        reader.take(lineEnd.length);
        return line;
      }
      await this.#need(reader.buffered.length + 1);
    }
  }

  async #need(bytes: number): Promise<void> {
    if (!(await this.#reader.fill(bytes))) throw malformed('it ends before its closing boundary');
  }
}

async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  yield* rest;
}

function malformed(why: string): AppError {
  return new AppError('invalid_input', `the form cannot be read: ${why}`, {
    hint: 'send multipart/form-data as curl -F and FormData make it',
  });
}
