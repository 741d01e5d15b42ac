import { framesCatalog, framesSchema, mainSchema } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { closingIndex, itemsIn } from '../text/token-groups.ts';
import { castTargets } from '../tree/type-position.ts';

/** Indexes of tokens: the start of a type's name, its last word, and the token behind it. */
export interface TypeName {
  readonly from: number;
  readonly word: number;
  readonly to: number;
}

/** All that name a type by one word, alone or behind the schema of frames: in casts, and inside of types. */
export function typeNames(tokens: readonly Token[]): readonly TypeName[] {
  const found: TypeName[] = [];
  for (const index of castTargets(tokens)) addType(tokens, index, found);
  return found;
}

/** The type that begins here. Tokens behind its first word change no name. */
function addType(tokens: readonly Token[], index: number, found: TypeName[]): void {
  const token = tokens[index];
  const name = nameOf(token);
  if (token === undefined || name === undefined) return;
  const next = tokens[index + 1];
  if (next?.text !== '(') {
    const schemas = next?.text === '.' ? ownSchemas(tokens, index) : 0;
    const word = index + 2 * schemas;
    if (tokens[word + 1]?.text !== '.') found.push({ from: index, word, to: word + 1 });
    return;
  }
  const word = asciiLower(name);
  const isMembers = word === 'struct' || word === 'row' || word === 'union';
  if (!isMembers && word !== 'map') return;
  // Members have a name before their type.
  const items = itemsIn(tokens, { from: index + 2, to: closingIndex(tokens, index + 1) });
  for (const { from } of items) addType(tokens, isMembers ? from + 1 : from, found);
}

/** The number of leading names that qualify a type: `frames.`, `main.`, `framehold.frames.` */
function ownSchemas(tokens: readonly Token[], index: number): number {
  const name = (at: number): string => asciiLower(nameOf(tokens[at]) ?? '');
  const isCatalog = name(index) === framesCatalog && tokens[index + 3]?.text === '.';
  const schema = name(isCatalog ? index + 2 : index);
  return schema === framesSchema || schema === mainSchema ? (isCatalog ? 2 : 1) : 0;
}

/** Whether a type and a text stand here, which is a cast: `mood 'a'`. */
export function isTypedText(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  return tokens[index + 1]?.kind === 'string' && before?.text !== '.' && before?.word !== 'as';
}
