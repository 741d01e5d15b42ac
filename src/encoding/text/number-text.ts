import { MINUS, POINT, ZERO } from '@framehold/columns';
import { decimalQuotient, powerOfTen } from './decimal-quotient.ts';

const PLUS = 43;
const CAPITAL_E = 69;
const SMALL_E = 101;
const nine = ZERO + 9;
const wordSize = 2 ** 32;
/** Exact, and quicker than a division. */
const wordPart = 2 ** -32;
/** A whole number of this many digits is exact in a double, and so are all intermediate steps. */
const exactDigits = 15;
/** No type has values of more. */
const mostDigits = 40;
const longestDouble = 100;
const low = new Int32Array(2);
const bits = new Float64Array(low.buffer);

/** The number at a place of a text: its digits are read once, for any type. It ends before the first byte that is no part of one. */
export class NumberText {
  /** Behind its last character. */
  end = 0;
  /** Without point and exponent. */
  isWhole = false;
  isNegative = false;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  /** Start of the digits before the point, without leading zeros. */
  #digitsStart = 0;
  /** Behind the last digit that is none of the exponent. */
  #digitsEnd = 0;
  #mantissa = 0;
  /** Digits of the mantissa; those beyond 15 are in `#tail`. */
  #digits = 0;
  #tail = 0;
  #exponent = 0;
  readonly #long = new Int32Array(2);

  /** Reads digits, point and exponent from `start` on. False where there is no number. */
  read(bytes: Uint8Array, start: number): boolean {
    this.#bytes = bytes;
    this.#start = start;
    let at = start;
    let byte = bytes[at] as number;
    this.isNegative = byte === MINUS;
    if (byte === MINUS || byte === PLUS) byte = bytes[++at] as number;
    const first = at;
    while (byte === ZERO) byte = bytes[++at] as number;
    this.#digitsStart = at;
    let mantissa = 0;
    let tail = 0;
    let digits = 0;
    for (; byte >= ZERO && byte <= nine; byte = bytes[++at] as number) {
      if (digits++ < exactDigits) mantissa = mantissa * 10 + (byte - ZERO);
      else tail = tail * 10 + (byte - ZERO);
    }
    let hasDigits = at > first;
    this.isWhole = byte !== POINT && byte !== SMALL_E && byte !== CAPITAL_E;
    let exponent = 0;
    if (byte === POINT) {
      const point = at;
      byte = bytes[++at] as number;
      if (digits === 0) while (byte === ZERO) byte = bytes[++at] as number;
      for (; byte >= ZERO && byte <= nine; byte = bytes[++at] as number) {
        if (digits++ < exactDigits) mantissa = mantissa * 10 + (byte - ZERO);
        else tail = tail * 10 + (byte - ZERO);
      }
      exponent = point + 1 - at;
      hasDigits ||= at > point + 1;
    }
    if (!hasDigits) return false;
    this.#mantissa = mantissa;
    this.#tail = tail;
    this.#digits = digits;
    this.#exponent = exponent;
    this.#digitsEnd = at;
    this.end = at;
    return byte !== SMALL_E && byte !== CAPITAL_E ? true : this.#readExponent(at);
  }

  #readExponent(letter: number): boolean {
    const bytes = this.#bytes;
    let at = letter + 1;
    let byte = bytes[at] as number;
    const isNegative = byte === MINUS;
    if (byte === MINUS || byte === PLUS) byte = bytes[++at] as number;
    const first = at;
    let exponent = 0;
    for (; byte >= ZERO && byte <= nine; byte = bytes[++at] as number) {
      if (exponent < 100_000) exponent = exponent * 10 + (byte - ZERO);
    }
    this.#exponent += isNegative ? -exponent : exponent;
    this.end = at;
    return at > first;
  }

  /** Whether it is written `-1.25`, with digits before the point and behind it, and without an exponent. */
  get isFixed(): boolean {
    return this.end === this.#digitsEnd && this.#isPlain();
  }

  #isPlain(): boolean {
    const first = this.#bytes[this.#start + (this.isNegative ? 1 : 0)] as number;
    return isDigit(first) && this.#bytes[this.#digitsEnd - 1] !== POINT;
  }

  /** Whether it is written `-1.25e-3`, without zeros before the first digit, and with at most three digits of an exponent. */
  get isUsualDouble(): boolean {
    const bytes = this.#bytes;
    const first = this.#start + (this.isNegative ? 1 : 0);
    if (!this.#isPlain() || (bytes[first] === ZERO && isDigit(bytes[first + 1] as number))) return false;
    const letter = this.#digitsEnd;
    const hasSign = bytes[letter + 1] === PLUS || bytes[letter + 1] === MINUS;
    return this.end - letter <= (hasSign ? 5 : 4);
  }

  get isZero(): boolean {
    return this.#digits === 0;
  }

  toDouble(): number {
    const magnitude = this.#magnitude();
    return this.isNegative ? -magnitude : magnitude;
  }

  #magnitude(): number {
    const digits = this.#digits;
    const exponent = this.#exponent;
    if (digits <= exactDigits && exponent >= -22 && exponent <= 22) {
      return exponent < 0 ? this.#mantissa / powerOfTen(-exponent) : this.#mantissa * powerOfTen(exponent);
    }
    if (digits > exactDigits && digits <= exactDigits + 4 && exponent <= 0 && exponent >= -22) {
      const quotient = decimalQuotient(this.#mantissa, this.#tail, digits - exactDigits, -exponent);
      if (!Number.isNaN(quotient)) return quotient;
    }
    return Math.abs(Number(asciiText(this.#bytes, this.#start, this.end)));
  }

  /** A whole number of at most 15 digits; NaN of more. */
  toShort(): number {
    if (this.#digits > exactDigits) return Number.NaN;
    return this.isNegative ? -this.#mantissa : this.#mantissa;
  }

  /** Whether a whole number is an int64, which is then in `low` and `high`. */
  toLong(): boolean {
    if (this.#digits > exactDigits) return this.toLongOf(this.end);
    writeInt64(this.#long, 0, this.toShort());
    return true;
  }

  /** The same of its digits before `end` alone. */
  toLongOf(end: number): boolean {
    return writeLong(this.#long, 0, this.#bytes, Math.min(this.#digitsStart, end), end, this.isNegative);
  }

  get low(): number {
    return this.#long[0] as number;
  }

  get high(): number {
    return this.#long[1] as number;
  }

  /** Takes an int64 from elsewhere. False where it is none. */
  setLong(value: bigint): boolean {
    if (BigInt.asIntN(64, value) !== value) return false;
    this.#long[0] = Number(BigInt.asIntN(32, value));
    this.#long[1] = Number(value >> 32n);
    return true;
  }

  /** Whether the last `count` digits of a whole number are zeros. */
  endsInZeros(count: number): boolean {
    if (this.#digits === 0) return true;
    if (this.#digits <= count) return false;
    for (let at = this.end - count; at < this.end; at++) if (this.#bytes[at] !== ZERO) return false;
    return true;
  }

  /** A whole number of any size: of more than 40 digits, one that fits nowhere. */
  toBigInt(): bigint {
    const isLong = this.end - this.#digitsStart > mostDigits;
    // Without the point of a fixed number.
    const text = isLong ? '' : asciiText(this.#bytes, this.#digitsStart, this.end).replace('.', '');
    const magnitude = isLong ? 1n << 100n : BigInt(text);
    return this.isNegative ? -magnitude : magnitude;
  }

  /** A fixed number as a whole number of the last of `scale` decimals. Undefined where it has more, or more digits than `precision`. */
  toUnscaled({
    precision,
    scale,
  }: {
    readonly precision: number;
    readonly scale: number;
  }): number | bigint | undefined {
    const zeros = scale + this.#exponent;
    if (zeros < 0 || this.#digits + zeros > precision) return undefined;
    if (this.#digits + zeros > exactDigits) return this.toBigInt() * 10n ** BigInt(zeros);
    return this.toShort() * powerOfTen(zeros);
  }

  /** Whether a whole number is exact as a double. */
  isExactDouble(): boolean {
    if (this.#digits <= exactDigits) return true;
    const double = this.toDouble();
    return Number.isFinite(double) && BigInt(double) === this.toBigInt();
  }
}

const partDigits = 9;
const partSize = 10 ** partDigits;
const halfWord = 2 ** 16;
const lowHalf = halfWord - 1;

/** Writes an int64, its low half first. `value` is exact. */
export function writeInt64(words: Int32Array, at: number, value: number): void {
  words[at] = value;
  words[at + 1] = Math.floor(value * wordPart);
}

/** Writes an int64 of digits, its low half first. False: it may not fit. No product below has more than 53 bits. */
export function writeLong(
  words: Int32Array,
  at: number,
  bytes: Uint8Array,
  from: number,
  end: number,
  isNegative: boolean,
): boolean {
  if (end - from > 19) return false;
  const cut = Math.max(from, end - partDigits);
  const upper = wholeNumber(bytes, from, cut);
  const product = Math.floor(upper / halfWord) * partSize;
  const sum = (product & lowHalf) * halfWord + (upper & lowHalf) * partSize + wholeNumber(bytes, cut, end);
  const low = sum >>> 0;
  const high = Math.floor(product / halfWord) + Math.floor(sum / wordSize);
  const isLeast = isNegative && high === wordSize / 2 && low === 0;
  if (high >= wordSize / 2 && !isLeast) return false;
  words[at] = isNegative ? -low : low;
  words[at + 1] = isNegative ? -high - (low === 0 ? 0 : 1) : high;
  return true;
}

/** Of at most 15 digits. */
function wholeNumber(bytes: Uint8Array, from: number, end: number): number {
  let value = 0;
  for (let at = from; at < end; at++) value = value * 10 + (bytes[at] as number) - ZERO;
  return value;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= nine;
}

function asciiText(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}

const number = new NumberText();

/** `-1.25e-3` in the bytes [from, end); NaN where it is too large, cut to zero, or written otherwise. */
export function doubleOf(bytes: Uint8Array, from: number, end: number): number {
  const isUsual = number.read(bytes, from) && number.end === end && number.isUsualDouble;
  if (!isUsual || end - from > longestDouble) return Number.NaN;
  const value = number.toDouble();
  return Number.isFinite(value) && (value !== 0 || number.isZero) ? value : Number.NaN;
}

/** The float that is nearest to the number that was written; NaN where rounding twice could have given another. */
export function floatOf(value: number): number {
  if (value === 0) return value;
  const size = Math.abs(value);
  if (!(size > 1e-30 && size < 1e38)) return Number.NaN;
  bits[0] = value;
  return ((low[0] as number) & 0x1fff_ffff) === 0x1000_0000 ? Number.NaN : Math.fround(value);
}
