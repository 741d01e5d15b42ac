import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { TextEdit } from '../../../../../core/text/source-text.ts';
import { isWord, nameOf } from '../text/token-cursor.ts';
import type { Token } from '../text/tokenizer.ts';
import { listOf, nodesOf, type TreeNode } from './parse-tree.ts';

/** The uses of `rowid` in a query. */
export interface RowIdUse {
  /** Places where `*` stands for the columns of frames; undefined if a place cannot be found. */
  readonly stars: readonly number[] | undefined;
}

export const rowIdName = 'rowid';

/** Keys of a plain `*` or `t.*`. */
const plainStar = new Set(['class', 'type', 'query_location', 'relation_name', 'alias']);

/** Whether a query uses row numbers. If a frame has a column with them, each `*` must leave that column out. */
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

  for (const node of nodesOf(statement)) {
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

const exclude = ` EXCLUDE (${rowIdName})`;

/** Edits of a text so that the stars at these places leave out a column `rowid`. Undefined if a star is written in another way. */
export function starEdits(tokens: readonly Token[], places: readonly number[]): readonly TextEdit[] | undefined {
  const edits = places.map((place) => starEdit(tokens, place));
  return edits.every((edit) => edit !== undefined) ? edits.sort((a, b) => a.at - b.at) : undefined;
}

function starEdit(tokens: readonly Token[], place: number): TextEdit | undefined {
  let index = tokens.findIndex(({ start }) => start === place);
  // FROM t without SELECT.
  if (isWord(tokens[index], 'from')) return { at: place, text: `SELECT *${exclude} ` };
  while (index >= 0 && tokens[index + 1]?.text === '.' && nameOf(tokens[index] as Token) !== undefined) index += 2;
  const star = tokens[index];
  return star?.text === '*' ? { at: star.end, text: exclude } : undefined;
}
