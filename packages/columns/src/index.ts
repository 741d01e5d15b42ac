export {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  LF,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  POINT,
  QUOTE,
  SPACE,
  ZERO,
} from './ascii.ts';
export { type Batch, bytesOfVectors, childTypes, fixedSizeBytes, type Vector, vectorPart } from './batch.ts';
export { ByteSink } from './byte-sink.ts';
export { CodedError, type CodedErrorOptions } from './coded-error.ts';
export { copyBytes, joinBytes } from './copy-bytes.ts';
export {
  type Column,
  type DataType,
  type DeclaredField,
  type DeclaredType,
  innerTypes,
  isDecimalSize,
  mostDecimalDigits,
  type TimeUnit,
} from './data-type.ts';
export type { EncodedRows } from './encoded-rows.ts';
export { countOnes, GrowingBits } from './growing-bits.ts';
export { GrowingBytes, paddedLength, padding } from './growing-bytes.ts';
export { isoDuration } from './iso-duration.ts';
export { only } from './only.ts';
export { parseSqlType, sqlTypeNames } from './parse-sql-type.ts';
export { Slab } from './slab.ts';
export { giveMemory, takeMemory } from './spare-memory.ts';
export { sparkName, sqlName, sqlString } from './sql-quotes.ts';
export { sqlTypeName } from './sql-type-name.ts';
export { plainBytes, typedView, viewOf } from './typed-view.ts';
export { isUuidText } from './uuid-text.ts';
