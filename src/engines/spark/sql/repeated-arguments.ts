/**
 * Functions whose arguments an engine writes out several times when it plans, by that number: nested in each other they grow so
 * fast that Sail has no memory left, or Spark plans for minutes. Measured.
 */
const groups: readonly (readonly [times: number, names: string])[] = [
  [
    2,
    `coalesce date_add date_diff date_sub datediff decode element_at equal_null get if ifnull left named_struct nullif nullifzero
    nvl nvl2 right shuffle startswith struct try_element_at zeroifnull`,
  ],
  [3, 'array_append array_prepend'],
  [16, 'array_insert'],
];

const times = new Map(groups.flatMap(([count, names]) => names.split(/\s+/).map((name) => [name, count] as const)));

/** The name in lower case. */
export function argumentRepeats(name: string): number {
  return times.get(name) ?? 1;
}
