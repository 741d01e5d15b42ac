import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { type TextEdit, tokenIndex } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { listOf, type TreeNode } from './parse-tree.ts';

/** The uses of `rowid` in a query. */
export interface RowIdUse {
  /** Places where `*` stands for the columns of frames; undefined if a place cannot be found. */
  readonly stars: readonly number[] | undefined;
}

export const rowIdName = 'rowid';

/** Keys of a plain `*` or `t.*`. */
const plainStar = new Set(['class', 'type', 'query_location', 'relation_name', 'alias']);

/** Whether a query uses row numbers. If a frame has a column with them, each `*` must leave that column out. */
export class RowIds {
  readonly #selects: TreeNode[] = [];
  readonly #stars = new Set<TreeNode>();
  /** The last parts of names of columns. */
  readonly #columns = new Set<string>();
  #canTell = true;

  visit(node: TreeNode): void {
    if (node.type === 'SELECT_NODE') this.#selects.push(node);
    if (node.class === 'STAR') this.#stars.add(node);
    if (node.class === 'POSITIONAL_REFERENCE' || node.type === 'PIVOT' || node.ref_type === 'NATURAL')
      this.#canTell = false;
    if (node.class === 'COLUMN_REF') this.#columns.add(asciiLower(listOf<string>(node.column_names).at(-1) ?? ''));
  }

  /** `frames`: the nodes of them in what was visited. */
  use(frames: ReadonlySet<TreeNode>): RowIdUse | undefined {
    if (!this.#columns.has(rowIdName) || frames.size === 0) return undefined;
    const stars: number[] = [];
    let canTell = this.#canTell;
    for (const { column_name_alias: renamed, alias, table_name: name } of frames) {
      // Or the row of a table as one value.
      if (renamed !== undefined || this.#columns.has(asciiLower(String(alias ?? name)))) canTell = false;
    }
    for (const { select_list: list, from_table: table } of this.#selects) {
      const from = fromOf(table, frames);
      for (const item of listOf(list)) {
        if (item.class !== 'STAR' || !Object.keys(item).every((key) => plainStar.has(key))) continue;
        this.#stars.delete(item);
        if (from === 'others') continue;
        if (from === 'frames' && typeof item.query_location === 'number') stars.push(item.query_location);
        else canTell = false;
      }
    }
    return { stars: canTell && this.#stars.size === 0 ? stars : undefined };
  }
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
  let index = tokenIndex(tokens, place);
  // FROM t without SELECT.
  if (tokens[index]?.word === 'from') return { at: place, text: `SELECT *${exclude} ` };
  while (index >= 0 && tokens[index + 1]?.text === '.' && nameOf(tokens[index]) !== undefined) index += 2;
  const star = tokens[index];
  return star?.text === '*' ? { at: star.end, text: exclude } : undefined;
}
