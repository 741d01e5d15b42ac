import { signal } from '@preact/signals';
import { readStored, writeStored } from '../kept/stored.ts';
import { noValue, type ParameterValue, type ParameterValues, valuesIn } from './parameter-value.ts';

interface KeptValues {
  readonly sql: string;
  readonly values: ParameterValues;
}

const storageKey = 'framehold.sql.parameters';
const mostKept = 200;
/** Longer statements are not stored. */
const longestSql = 20_000;

/** Values of each statement by its text, the latest first. */
const kept = signal<readonly KeptValues[]>(restored());
/** Values of a tab, by name: a statement that is being edited keeps its values. */
const lastOfTab = new Map<string, ParameterValues>();

export function typedValue(tab: string, sql: string, key: string): ParameterValue {
  const known = [kept.value.find((each) => each.sql === sql)?.values, lastOfTab.get(tab)];
  return known.find((values) => values !== undefined && Object.hasOwn(values, key))?.[key] ?? noValue;
}

export function keepValues(tab: string, sql: string, values: ParameterValues): void {
  lastOfTab.set(tab, { ...lastOfTab.get(tab), ...values });
  // Another window may have changed them since.
  const all = restored();
  const before = all.find((each) => each.sql === sql)?.values;
  const entry = { sql, values: { ...before, ...values } };
  kept.value = [entry, ...all.filter((each) => each.sql !== sql)].slice(0, mostKept);
  writeStored(
    storageKey,
    kept.peek().filter((each) => each.sql.length <= longestSql),
  );
}

function restored(): readonly KeptValues[] {
  const stored = readStored(storageKey);
  if (!Array.isArray(stored)) return [];
  return (stored as readonly (Partial<Record<keyof KeptValues, unknown>> | null)[]).flatMap((each) =>
    typeof each?.sql === 'string' ? [{ sql: each.sql, values: valuesIn(each.values) }] : [],
  );
}
