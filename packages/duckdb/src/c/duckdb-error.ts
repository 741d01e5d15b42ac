/** A message, which may quote a value of any length, is cut to its beginning and the place at its end. */
const headLength = 4000;
const tailLength = 1000;

/** DuckDB's messages about damaged files: it has no error class for these, nor a common wording. */
const wordsOfDamage = new RegExp(
  [
    '^Serialization Error',
    'failed to read file',
    'could not read enough bytes',
    'out of buffer',
    'parquet (?:file|read)',
    'no magic bytes',
    'corrupt',
    'TProtocolException',
    'invalid TType',
    "don't know what type",
    'variable-length int',
    'varint-decoding',
    'converted type can',
    'incorrect stats size',
    'page size mismatch',
    'bit width too large',
    'decompression fail',
    'GZIP stream',
  ].join('|'),
  'i',
);

/** An error of DuckDB. Its C API distinguishes errors by their messages alone. */
export class DuckDbError extends Error {
  override readonly name = 'DuckDbError';

  constructor(message: string) {
    const isLong = message.length > headLength + tailLength;
    super(isLong ? `${message.slice(0, headLength)}…${message.slice(-tailLength)}` : message);
  }

  /** For an exception in DuckDB's internal form: JSON, before it becomes a text. */
  static ofException(message: string): DuckDbError {
    const { exception_type: type, exception_message: text } = parsedException(message);
    return new DuckDbError(type === undefined || text === undefined ? message : `${type} Error: ${text}`);
  }

  /** The statement was interrupted. */
  get interrupted(): boolean {
    return /^INTERRUPT Error/.test(this.message);
  }

  /** The statement or its data are wrong, not the machine or DuckDB itself. */
  get isCallers(): boolean {
    return /^(Invalid Input|Conversion|Out of Range|Parser|Binder|Catalog|Constraint|Not implemented|Mismatch Type) Error/.test(
      this.message,
    );
  }

  /** It may quote a value of a row. */
  get isAboutValues(): boolean {
    return /^(Invalid Input|Conversion|Out of Range|Mismatch Type) Error/.test(this.message);
  }

  /** It sounds as if a file is damaged. */
  get isUnreadableFile(): boolean {
    return wordsOfDamage.test(this.message);
  }

  /** The instance cannot be trusted after this one. */
  get fatal(): boolean {
    return !this.isCallers && /^(FATAL|INTERNAL) Error|has been invalidated/.test(this.message);
  }
}

function parsedException(message: string): { readonly exception_type?: string; readonly exception_message?: string } {
  if (!message.startsWith('{"exception_type":')) return {};
  try {
    return JSON.parse(message);
  } catch {
    return {};
  }
}
