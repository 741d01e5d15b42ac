/** A string as a literal of any SQL but Spark's. */
export function sqlString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as DuckDB and standard SQL write it. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A name as Spark writes it. */
export function sparkName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
