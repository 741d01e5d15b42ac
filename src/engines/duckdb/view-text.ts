import { sqlString } from '@framehold/columns';

/**
 * The catalogs of a process show views over no tables, so that DuckDB does not know the texts of their owners. Each carries its own
 * as a condition, and queries over catalogs take it out of DuckDB's text.
 */
export function carriedText(text: string | undefined): string {
  return ` WHERE '${marker}${Buffer.from(text ?? '').toString('base64')}' IS NULL`;
}

/** An expression for the text that DuckDB's text of a view carries; NULL where the caller may not see it. */
export function carriedTextIn(column: string): string {
  const found = `regexp_extract(${column}, ${pattern}, 1)`;
  const text = `decode(from_base64(nullif(${found}, '')))`;
  return `CASE WHEN regexp_matches(${column}, ${pattern}) THEN ${text} ELSE ${column} END`;
}

const marker = 'framehold text:';
const pattern = sqlString(`WHERE \\('${marker}([A-Za-z0-9+/=]*)' IS NULL\\);$`);
