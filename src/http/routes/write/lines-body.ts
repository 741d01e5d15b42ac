import { AppError } from '../../../core/app-error.ts';
import { decodeBody, parseContentEncoding } from '../../body/decode-body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { BodyLimits } from '../../exchange/request-body.ts';
import { isCode } from './write-error.ts';

/** Bodies are held whole: those under way may have so many times the largest one together. */
const bodiesAtOnce = 4;

/** Reads bodies of lines into memory. */
export class LinesBodies {
  readonly #limits: BodyLimits;
  #heldBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Gives the whole body to `use`. */
  async with(exchange: Exchange, use: (body: Uint8Array) => Promise<void>): Promise<void> {
    let held = 0;
    const hold = (bytes: number): void => {
      held += bytes;
      this.#heldBytes += bytes;
      if (this.#heldBytes > bodiesAtOnce * this.#limits.maxBodyBytes) throw tooManyBytes();
    };
    try {
      await use(await this.#read(exchange, hold));
    } catch (error) {
      throw isCode(error, 'too_large') && error.hint?.includes('http.max_body') ? this.#tooLarge() : error;
    } finally {
      this.#heldBytes -= held;
    }
  }

  async #read(exchange: Exchange, hold: (bytes: number) => void): Promise<Uint8Array> {
    const { 'content-encoding': coding, 'content-length': length } = exchange.requestHeaders;
    if (Number(length ?? 0) > this.#limits.maxBodyBytes) throw this.#tooLarge();
    const raw = exchange.body(this.#limits);
    const body = coding === undefined ? raw : decodeBody(raw, parseContentEncoding(coding), this.#limits);
    const pieces: Buffer[] = [];
    for await (const piece of body) {
      hold(piece.length);
      pieces.push(piece);
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  #tooLarge(): AppError {
    return new AppError('too_large', `the body is larger than the ${this.#limits.maxBodyBytes} bytes allowed`, {
      hint: 'send fewer lines at once, or let the operator raise write.max_body',
    });
  }
}

function tooManyBytes(): AppError {
  return new AppError('overloaded', 'requests under way hold too many lines in memory already', {
    hint: 'try again in a moment',
    retryAfterSeconds: 1,
  });
}
