/** Deeper JSON takes DuckDB's json_structure, which works by recursion, thousands of levels later out of its stack. */
const mostLevels = 64;

const withoutTexts = String.raw`regexp_replace(t, '"(?:[^"\\]|\\.)*"', '', 'g')`;
const brackets = `regexp_replace(${withoutTexts}, '[^][{}]', '', 'g')`;
/** Removes the innermost brackets, one level at a time: of text that is not too deep, nothing is left. */
const beyond = String.raw`list_reduce([${brackets}] || list_transform(range(${mostLevels}), lambda n: ''), lambda s, n: regexp_replace(s, '\[\]|\{\}', '', 'g'))`;
const message = `JSON for json_structure is nested more than ${mostLevels} levels deep`;
const checked = `CASE WHEN t IS NULL OR ${beyond} = '' OR NOT json_valid(t) THEN t ELSE error('${message}') END`;

/** Functions of DuckDB with checked input, under the same names in a schema that is searched before DuckDB's own. */
export function boundedFunctions(schema: string): readonly string[] {
  // The value is computed once: the checked value is the used one. The check is inside of the call, whose arguments are
  // computed first, also where DuckDB computes a constant as it plans.
  const text = `list_transform([CAST(j AS VARCHAR)], lambda t: ${checked})[1]`;
  return [
    `CREATE MACRO ${schema}.json_structure(j) AS system.main.json_structure(${text})`,
    `CREATE MACRO ${schema}.json_group_structure(j) AS ${schema}.json_structure(json_group_array(j)) -> 0`,
  ];
}
