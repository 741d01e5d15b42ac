import type { TextEdit } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import type { TreeNode } from './parse-tree.ts';
import { isWord, nameOf } from './token-cursor.ts';
import type { Token } from './tokenizer.ts';

/** How a query uses `rowid`. Places are offsets of bytes. */
export interface RowIdUse {
  /** Where `*` stands for the columns of frames; undefined where all columns stand in a place that cannot be told. */
  readonly stars: readonly number[] | undefined;
}

export const rowIdName = 'rowid';

/** Keys of a plain `*` or `t.*`. */
const plainStar = new Set(['class', 'type', 'query_location', 'relation_name', 'alias']);

/**
 * Whether a query asks for the numbers of rows. Where a frame has a column with them, whatever stands for all of its columns
 * must leave that one out.
 */
export function rowIdUse(statement: TreeNode, frames: ReadonlySet<TreeNode>): RowIdUse | undefined {
  const names = new Set([...frames].map(({ alias, table_name: name }) => asciiLower(String(alias ?? name))));
  const stars: number[] = [];
  const known = new Set<TreeNode>();
  let isUsed = false;
  let canTell = true;

  const visitSelect = (node: TreeNode): void => {
    const from = fromOf(node.from_table, frames);
    for (const item of listOf(node.select_list)) {
      if (item.class !== 'STAR' || !Object.keys(item).every((key) => plainStar.has(key))) continue;
      known.add(item);
      if (from === 'others') continue;
      if (from === 'frames' && typeof item.query_location === 'number') stars.push(item.query_location);
      else canTell = false;
    }
  };

  const pending: unknown[] = [statement];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    pending.push(...Object.values(value).filter((part) => typeof part === 'object' && part !== null));
    if (Array.isArray(value)) continue;
    const node = value as TreeNode;
    if (node.type === 'SELECT_NODE') visitSelect(node);
    if (node.class === 'STAR' && !known.has(node)) canTell = false;
    if (node.class === 'POSITIONAL_REFERENCE' || node.type === 'PIVOT' || node.ref_type === 'NATURAL') canTell = false;
    if (frames.has(node) && node.column_name_alias !== undefined) canTell = false;
    if (node.class !== 'COLUMN_REF') continue;
    const path = node.column_names as readonly string[];
    isUsed ||= asciiLower(path.at(-1) ?? '') === rowIdName;
    // The row of a table as one value.
    if (names.has(asciiLower(path.at(-1) ?? ''))) canTell = false;
  }
  if (!isUsed || frames.size === 0) return undefined;
  return { stars: canTell ? stars : undefined };
}

function fromOf(from: unknown, frames: ReadonlySet<TreeNode>): 'frames' | 'others' | 'mixed' {
  const node = from as TreeNode | undefined;
  if (node?.type === 'JOIN') {
    const [left, right] = [fromOf(node.left, frames), fromOf(node.right, frames)];
    return left === right ? left : 'mixed';
  }
  return node !== undefined && frames.has(node) ? 'frames' : 'others';
}

function listOf(value: unknown): readonly TreeNode[] {
  return Array.isArray(value) ? (value as readonly TreeNode[]) : [];
}

const exclude = ` EXCLUDE (${rowIdName})`;

/** What is to be put into a text so that the stars at these places leave out a column `rowid`. Undefined where one is written in another way. */
export function starEdits(tokens: readonly Token[], places: readonly number[]): readonly TextEdit[] | undefined {
  const edits = places.map((place) => starEdit(tokens, place));
  return edits.every((edit) => edit !== undefined) ? edits.sort((a, b) => a.at - b.at) : undefined;
}

function starEdit(tokens: readonly Token[], place: number): TextEdit | undefined {
  let index = tokens.findIndex(({ start }) => start === place);
  // Of FROM t without SELECT.
  if (isWord(tokens[index], 'from')) return { at: place, text: `SELECT *${exclude} ` };
  while (index >= 0 && tokens[index + 1]?.text === '.' && nameOf(tokens[index] as Token) !== undefined) index += 2;
  const star = tokens[index];
  return star?.text === '*' ? { at: star.end, text: exclude } : undefined;
}
