import { signal } from '@preact/signals';
import { fileText, itemsOf } from './statement-file.ts';
import { readStored, writeStored } from './stored.ts';

/** A statement under a name. */
export interface SavedStatement {
  readonly name: string;
  readonly sql: string;
  readonly engine: string;
}

const storageKey = 'framehold.sql.saved';
/** Kind of a file with saved statements. */
const fileKind = 'framehold-statements';

/** By their names. */
export const savedStatements = signal<readonly SavedStatement[]>(restored());

/** Takes the place of the one with this name. False where the browser has no room for it. */
export function saveStatement(statement: SavedStatement): boolean {
  return keep([statement]);
}

export function forgetStatement(name: string): void {
  savedStatements.value = restored().filter((statement) => statement.name !== name);
  writeStored(storageKey, savedStatements.peek());
}

/** Returns the number of statements. Throws for another file. */
export function importStatements(text: string): number {
  const found = parseStatements(text);
  if (!keep(found)) throw new Error('the browser has no room for them');
  return found.length;
}

export function exportedStatements(statements: readonly SavedStatement[]): string {
  return fileText(fileKind, 'statements', statements);
}

export function parseStatements(text: string): readonly SavedStatement[] {
  return statementsIn(itemsOf(text, fileKind, 'statements'));
}

function keep(statements: readonly SavedStatement[]): boolean {
  const byName = new Map([...restored(), ...statements].map((statement) => [statement.name, statement]));
  const kept = [...byName.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
  if (!writeStored(storageKey, kept)) return false;
  savedStatements.value = kept;
  return true;
}

/** Another window of the browser may have changed them since. */
function restored(): readonly SavedStatement[] {
  return statementsIn(readStored(storageKey));
}

function statementsIn(value: unknown): readonly SavedStatement[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: Partial<Record<keyof SavedStatement, unknown>> | null) => {
    const { name, sql, engine } = each ?? {};
    if (typeof name !== 'string' || name === '' || typeof sql !== 'string') return [];
    return [{ name: name.slice(0, 100), sql, engine: typeof engine === 'string' ? engine : 'local' }];
  });
}
