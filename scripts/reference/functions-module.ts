import {
  allowedFunctions as duckdbFunctions,
  allowedTableFunctions as duckdbTableFunctions,
} from '../../src/engines/duckdb/worker/gate/rules/function-rules.ts';
import {
  allowedFunctions as sparkFunctions,
  allowedTableFunctions as sparkTableFunctions,
} from '../../src/engines/spark/sql/allowed-functions.ts';

const lineWidth = 118;

/** console/sql/editor/functions.ts: the functions that the gates allow, for the completion of names. */
export function functionsModule(): string {
  return `// Made by scripts/generate-docs.mjs from the lists of allowed functions; do not edit.

/** Functions of DuckDB. */
export const duckdbFunctions = \`
${wrapped([...duckdbFunctions, ...duckdbTableFunctions])}\`;

/** Functions of Spark. */
export const sparkFunctions = \`
${wrapped([...sparkFunctions, ...sparkTableFunctions])}\`;
`;
}

/** Names that can be typed: operators are left out. */
function wrapped(names: readonly string[]): string {
  const lines: string[] = [''];
  for (const name of [...new Set(names)].filter((found) => /^[a-z]\w*$/.test(found)).sort()) {
    const last = lines.at(-1) ?? '';
    if (last.length + name.length >= lineWidth) lines.push(name);
    else lines[lines.length - 1] = last === '' ? name : `${last} ${name}`;
  }
  return lines.join('\n');
}
