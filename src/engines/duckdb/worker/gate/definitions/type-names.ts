import { framesCatalog, framesSchema, mainSchema } from '../../../../../core/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { isWord, nameOf } from '../token-cursor.ts';
import type { Token } from '../tokenizer.ts';
import { castTargets } from '../type-position.ts';

/** Indexes of tokens: where the name of a type begins, its last word, and what is behind it. */
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

/** The type that begins here. What follows its first word changes no name. */
function addType(tokens: readonly Token[], index: number, found: TypeName[]): void {
  const token = tokens[index];
  const name = token === undefined ? undefined : nameOf(token);
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
  for (const item of itemsIn(tokens, index + 1)) addType(tokens, isMembers ? item + 1 : item, found);
}

/** How many names before the last are those of where types are: `frames.`, `main.`, `framehold.frames.` */
function ownSchemas(tokens: readonly Token[], index: number): number {
  const name = (at: number): string => asciiLower(nameOf(tokens[at] as Token) ?? '');
  const isCatalog = name(index) === framesCatalog && tokens[index + 3]?.text === '.';
  const schema = name(isCatalog ? index + 2 : index);
  return schema === framesSchema || schema === mainSchema ? (isCatalog ? 2 : 1) : 0;
}

/** Where each item of a list in parentheses begins. */
function itemsIn(tokens: readonly Token[], open: number): readonly number[] {
  const items = [open + 1];
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const { kind, text } = tokens[index] as Token;
    if (kind !== 'mark') continue;
    if (/[([{]/.test(text)) depth++;
    else if (/[)\]}]/.test(text) && --depth === 0) break;
    else if (text === ',' && depth === 1) items.push(index + 1);
  }
  return items;
}

/** Whether a type and a text stand here, which is a cast: `mood 'a'`. */
export function isTypedText(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  return tokens[index + 1]?.kind === 'string' && before?.text !== '.' && !isWord(before, 'as');
}
