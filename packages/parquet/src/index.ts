export { encoding } from './column-chunk.ts';
export { fileFooter, rowGroup } from './file-footer.ts';
export { parquetType } from './parquet-type.ts';
export { canWriteParquet, ParquetWriter, rowGroupRows } from './parquet-writer.ts';
export { pruningFacts } from './pruning-facts.ts';
export { type ParquetFacts, physicalType, readParquetFooter } from './read-footer.ts';
export { ThriftWriter } from './thrift-writer.ts';
