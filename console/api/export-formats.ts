/** What `GET /exp` writes rows as. */
export const exportFormats = {
  parquet: 'Parquet',
  csv: 'CSV',
  tsv: 'TSV',
  arrow: 'Arrow IPC stream',
  json: 'JSON',
  ndjson: 'NDJSON',
} as const;

export type ExportFormat = keyof typeof exportFormats;
