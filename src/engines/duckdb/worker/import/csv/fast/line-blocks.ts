import { isUtf8 } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import { LF } from '@framehold/columns';

const blockBytes = 1024 * 1024;
/** The rest of the block before is put in front of the next: the beginning of a row, which cannot be longer. */
const headBytes = 1024 * 1024;
/** Room for the line end that the last line may lack, and for readers that look a few bytes ahead. */
const tailBytes = 64;

/** Lines of a file: bytes [start, limit), of which the last is a line end. */
export interface LineBlock {
  readonly bytes: Buffer;
  readonly start: number;
  readonly limit: number;
  readonly isLast: boolean;
}

/** Reads a file of text as blocks of whole lines; the next block is read while this one is used. */
export class LineBlocks implements AsyncDisposable {
  readonly #file: FileHandle;
  #bytes = newBuffer();
  #other = newBuffer();
  #end = headBytes;
  #reading: Promise<number>;

  static async open(path: string): Promise<LineBlocks> {
    return new LineBlocks(await open(path, 'r'));
  }

  private constructor(file: FileHandle) {
    this.#file = file;
    this.#reading = this.#readAhead();
  }

  /**
   * The next block, which begins with the bytes from `rest` on of the one before; that one is gone then. `lineEnd`: given
   * to the last line where it has none.
   */
  async next(rest = this.#end, lineEnd = '\n'): Promise<LineBlock> {
    const start = headBytes - (this.#end - rest);
    if (start < 0) throw new NeedsFullReader('a row is very long');
    const bytesRead = await this.#reading;
    this.#bytes.copy(this.#other, start, rest, this.#end);
    [this.#bytes, this.#other] = [this.#other, this.#bytes];
    this.#end = headBytes + bytesRead;
    const isLast = bytesRead === 0;
    if (!isLast) this.#reading = this.#readAhead();
    else if (start < this.#end && this.#bytes[this.#end - 1] !== LF) {
      this.#end += this.#bytes.write(lineEnd, this.#end, 'latin1');
    }
    const limit = Math.max(start, this.#bytes.lastIndexOf(LF, this.#end - 1) + 1);
    if (!isUtf8(this.#bytes.subarray(start, limit))) throw new NeedsFullReader('it is not UTF-8');
    return { bytes: this.#bytes, start, limit, isLast };
  }

  #readAhead(): Promise<number> {
    const reading = this.#file.read(this.#other, headBytes, blockBytes, null).then(({ bytesRead }) => bytesRead);
    // The next read of a block throws the error.
    reading.catch(() => {});
    return reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reading.catch(() => {});
    await this.#file.close();
  }
}

function newBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(headBytes + blockBytes + tailBytes);
}

/** Something in a file is not as simple as the quick way needs it to be: the whole file goes the long way. No caller sees it. */
export class NeedsFullReader extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'NeedsFullReader';
  }
}
