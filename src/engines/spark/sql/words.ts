const listOf = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/**
 * Words that are never a name without backticks. Spark takes nearly every word for a name where one fits (`FROM t where,
 * u` reads two tables); as these mean one thing here, a text either means that to both or is refused.
 */
export const reservedWords = listOf(
  `all and anti as between case cross distinct else end except exists from full group having identifier in
  inner intersect into is join lateral left like ilike minus natural not null on or order outer pivot qualify
  regexp right rlike select semi table tablesample then true false union unpivot using values when where with`,
);

/** Words that begin a clause behind an expression or a table, and so are no alias without AS. */
const clauseWords = listOf(
  `asc cluster collate desc distribute div escape filter following for ignore limit nulls offset over placing preceding
  range respect rows sort window within`,
);

/** Reserved words that are also names of functions. */
export const functionWords = listOf('exists left like ilike rlike regexp right');

/** Words behind the name of a table that select an older version of it. */
export const timeTravelWords = listOf('for system_time system_version timestamp version');

/** Functions in whose parentheses FROM, FOR, IN and PLACING separate arguments. */
export const wordyFunctions = listOf('extract overlay position substr substring trim');

export const intervalUnits = listOf(
  `year years quarter quarters month months week weeks day days hour hours minute minutes second seconds millisecond
  milliseconds microsecond microseconds nanosecond nanoseconds`,
);

export const setOperators = listOf('union except intersect minus');

export function isAlias(word: string): boolean {
  return !reservedWords.has(word) && !clauseWords.has(word);
}
