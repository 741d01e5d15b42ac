import { decimalQuotient, powerOfTen } from './decimal-quotient.ts';

const zero = 48;
const nine = 57;
const twoTo32 = 2 ** 32;
const twoTo31 = 2 ** 31;
/** More may not be exact as a double. */
const exactDigits = 15;

/** The number at a place of a line: its digits are read once, for any type. */
export class LineNumber {
  /** Behind its last character, which may be a suffix of a whole number. */
  end = 0;
  /** Without point and exponent. */
  isWhole = false;
  isNegative = false;
  /** As int64, after `toLong`. */
  low = 0;
  high = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  /** Start of the digits before the point, without leading zeros. */
  #digitsStart = 0;
  #mantissa = 0;
  /** Digits of the mantissa; those beyond 15 are in `#tail`. */
  #digits = 0;
  #tail = 0;
  #exponent = 0;

  /** Reads digits, point and exponent from `start` on. False where there is no number. */
  read(bytes: Uint8Array, start: number): boolean {
    this.#bytes = bytes;
    this.#start = start;
    let at = start;
    let byte = bytes[at] as number;
    this.isNegative = byte === 45;
    if (byte === 45 || byte === 43) byte = bytes[++at] as number;
    const first = at;
    while (byte === zero) byte = bytes[++at] as number;
    this.#digitsStart = at;
    let mantissa = 0;
    let tail = 0;
    let digits = 0;
    for (; byte >= zero && byte <= nine; byte = bytes[++at] as number) {
      if (digits++ < exactDigits) mantissa = mantissa * 10 + (byte - zero);
      else tail = tail * 10 + (byte - zero);
    }
    let hasDigits = at > first;
    this.isWhole = byte !== 46 && byte !== 101 && byte !== 69;
    let exponent = 0;
    if (byte === 46) {
      const point = at;
      byte = bytes[++at] as number;
      if (digits === 0) while (byte === zero) byte = bytes[++at] as number;
      for (; byte >= zero && byte <= nine; byte = bytes[++at] as number) {
        if (digits++ < exactDigits) mantissa = mantissa * 10 + (byte - zero);
        else tail = tail * 10 + (byte - zero);
      }
      exponent = point + 1 - at;
      hasDigits ||= at > point + 1;
    }
    if (!hasDigits) return false;
    this.#mantissa = mantissa;
    this.#tail = tail;
    this.#digits = digits;
    this.#exponent = exponent;
    this.end = at;
    return byte !== 101 && byte !== 69 ? true : this.#readExponent(at);
  }

  #readExponent(letter: number): boolean {
    const bytes = this.#bytes;
    let at = letter + 1;
    let byte = bytes[at] as number;
    const isNegative = byte === 45;
    if (byte === 45 || byte === 43) byte = bytes[++at] as number;
    const first = at;
    let exponent = 0;
    for (; byte >= zero && byte <= nine; byte = bytes[++at] as number) {
      if (exponent < 100_000) exponent = exponent * 10 + (byte - zero);
    }
    this.#exponent += isNegative ? -exponent : exponent;
    this.end = at;
    return at > first;
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

  /** Whether a whole number is an int64, which is then in `low` and `high`. */
  toLong(): boolean {
    return this.toLongOf(this.end);
  }

  /** The same of its digits before `end` alone. */
  toLongOf(end: number): boolean {
    const start = Math.min(this.#digitsStart, end);
    const digits = end - start;
    if (digits > 19) return false;
    const bytes = this.#bytes;
    let upper = 0;
    let at = start;
    for (const cut = Math.max(start, end - 9); at < cut; at++) upper = upper * 10 + ((bytes[at] as number) - zero);
    let lower = 0;
    for (; at < end; at++) lower = lower * 10 + ((bytes[at] as number) - zero);
    this.#combine(upper, lower);
    const isLowest = this.isNegative && this.high === twoTo31 && this.low === 0;
    if (this.high >= twoTo31 && !isLowest) return false;
    if (this.isNegative) this.#negate();
    return true;
  }

  /** upper × 10^9 + lower, for upper < 10^10. No product below has more than 53 bits. */
  #combine(upper: number, lower: number): void {
    const upperHigh = Math.floor(upper / 2 ** 21);
    const sum = (upper - upperHigh * 2 ** 21) * 1e9 + lower;
    const product = upperHigh * 1e9;
    const carried = Math.floor(product / 2 ** 11);
    const total = (product - carried * 2 ** 11) * 2 ** 21 + sum;
    const totalHigh = Math.floor(total / twoTo32);
    this.low = total - totalHigh * twoTo32;
    this.high = carried + totalHigh;
  }

  #negate(): void {
    this.high = this.low === 0 ? -this.high : -this.high - 1;
    this.low = this.low === 0 ? 0 : twoTo32 - this.low;
  }

  /** Whether the last `count` digits of a whole number are zeros. */
  endsInZeros(count: number): boolean {
    if (this.#digits === 0) return true;
    if (this.#digits <= count) return false;
    for (let at = this.end - count; at < this.end; at++) if (this.#bytes[at] !== zero) return false;
    return true;
  }

  /** A whole number of any size. */
  toBigInt(): bigint {
    if (this.end - this.#digitsStart > 40) return this.isNegative ? -(1n << 100n) : 1n << 100n;
    const magnitude = BigInt(asciiText(this.#bytes, this.#digitsStart, this.end) || '0');
    return this.isNegative ? -magnitude : magnitude;
  }

  /** Whether a whole number is exact as a double. */
  isExactDouble(): boolean {
    if (this.#digits <= exactDigits) return true;
    const double = this.toDouble();
    return Number.isFinite(double) && BigInt(double) === this.toBigInt();
  }

  /** Takes an int64 from elsewhere. False where it is none. */
  setLong(value: bigint): boolean {
    if (BigInt.asIntN(64, value) !== value) return false;
    this.low = Number(BigInt.asUintN(32, value));
    this.high = Number(value >> 32n);
    return true;
  }
}

function asciiText(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}
