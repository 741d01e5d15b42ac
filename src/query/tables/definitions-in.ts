import type { Principal } from '../../core/callers/principal.ts';
import { type Definition, definitionKey } from '../../core/sql/definition.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import type { Frames } from '../../frames/frames.ts';
import type { TemporaryTables } from './temporary-tables.ts';

/** The macros and types of the caller. Those of the session go before others of the same names. */
export async function definitionsOf(
  frames: Pick<Frames, 'definitions'>,
  principal: Principal,
  temporary: TemporaryTables | undefined,
): Promise<readonly Definition[]> {
  const kept = await frames.definitions(principal);
  if (temporary === undefined || temporary.definitions.size === 0) return kept;
  const { definitions } = temporary;
  return [...kept.filter((definition) => !definitions.has(definitionKey(definition))), ...definitions.values()];
}

/** The definitions whose names are in the text. */
export async function definitionsIn(
  frames: Pick<Frames, 'definitions'>,
  principal: Principal,
  sql: string,
  temporary: TemporaryTables | undefined,
): Promise<readonly Definition[]> {
  const all = await definitionsOf(frames, principal, temporary);
  if (all.length === 0) return all;
  const words = new Set(sql.match(/[A-Za-z_][A-Za-z0-9_]*/g)?.map(asciiLower));
  return all.filter(({ name }) => words.has(asciiLower(name)));
}
