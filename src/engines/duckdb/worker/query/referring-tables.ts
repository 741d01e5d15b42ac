import { sqlName } from '@framehold/columns';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { ListedDefinition } from '../../protocol/protocol.ts';

/** In which DuckDB finds the table of a foreign key by its name alone. It refers to tables of the same schema alone. */
const currentSchema = '"framehold"."frames"';

/** Whether a table has foreign keys that can be shown. */
export function refers({ schema, constrained }: ListedDefinition): boolean {
  return asciiLower(schema) === currentSchema && (constrained?.constraints.foreignKeys.length ?? 0) > 0;
}

/** Each table behind those that it refers to, unless these refer to it. */
export function inOrderOfReferences(tables: readonly ListedDefinition[]): readonly ListedDefinition[] {
  const byName = new Map(tables.map((table) => [asciiLower(table.name), table]));
  const ordered: ListedDefinition[] = [];
  const seen = new Set<string>();
  for (const first of byName.keys()) {
    const pending: { readonly name: string; readonly isBehind: boolean }[] = [{ name: first, isBehind: false }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { name, isBehind } = next;
      const table = byName.get(name);
      if (table === undefined) continue;
      if (isBehind) ordered.push(table);
      else if (!seen.has(name)) {
        seen.add(name);
        pending.push({ name, isBehind: true });
        for (const { table: other } of table.constrained?.constraints.foreignKeys ?? [])
          pending.push({ name: asciiLower(sqlName(other)), isBehind: false });
      }
    }
  }
  return ordered;
}
