import { sqlName } from '@framehold/columns';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { type TextEdit, tokenIndex } from '../../../../../core/text/source-text.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { carriedTextIn } from '../../../view-text.ts';
import { closingIndex, isMark } from '../text/token-groups.ts';
import type { TreeNode } from './parse-tree.ts';

/** A place where a query over catalogs gets the texts of views. */
export interface ViewTextUse {
  readonly at: number;
  /** Name of the column with the text; undefined if the text is the value itself. */
  readonly column: string | undefined;
  /** The column's name if the caller gives none; undefined where it needs none. */
  readonly name: string | undefined;
}

const textColumns: Readonly<Record<string, string>> = {
  duckdb_views: 'sql',
  views: 'view_definition',
  pg_views: 'definition',
  sqlite_master: 'sql',
  sqlite_schema: 'sql',
  sqlite_temp_master: 'sql',
  sqlite_temp_schema: 'sql',
};

/** For one of DuckDB's own views, or a function in FROM. */
export function viewTextsOf(node: TreeNode, name: string): ViewTextUse | undefined {
  const key = asciiLower(name);
  const column = Object.hasOwn(textColumns, key) ? textColumns[key] : undefined;
  if (column === undefined || typeof node.query_location !== 'number') return undefined;
  return { at: node.query_location, column, name: isNamed(node) ? undefined : name };
}

/** For a function that gives the text of one view. */
export function viewTextOf(node: TreeNode, isSelected: boolean): ViewTextUse | undefined {
  const name = asciiLower(String(node.function_name));
  if (name !== 'pg_get_viewdef' || typeof node.query_location !== 'number') return undefined;
  return { at: node.query_location, column: undefined, name: isSelected && !isNamed(node) ? name : undefined };
}

function isNamed({ alias }: TreeNode): boolean {
  return typeof alias === 'string' && alias !== '';
}

/** Edits that put the texts of views into a query. */
export function viewTextEdits(tokens: readonly Token[], uses: readonly ViewTextUse[]): readonly TextEdit[] {
  return uses.flatMap((use) => editsOf(tokens, use)).sort((a, b) => a.at - b.at);
}

/** Behind these words comes the name of a table and nothing else. */
const plainNames = ['describe', 'desc', 'show', 'summarize', 'table'];

function editsOf(tokens: readonly Token[], { at, column, name }: ViewTextUse): TextEdit[] {
  const first = tokenIndex(tokens, at);
  if (first < 0 || plainNames.includes(tokens[first - 1]?.word ?? '')) return [];
  let last = first;
  while (tokens[last + 1]?.text === '.') last += 2;
  if (isMark(tokens[last + 1], '(')) last = closingIndex(tokens, last + 1);
  const end = tokens[last]?.end;
  if (end === undefined || (tokens[last + 1]?.word === 'with' && tokens[last + 2]?.word === 'ordinality')) return [];
  const named = name === undefined ? '' : ` AS ${sqlName(name)}`;
  if (column === undefined) {
    const text = `], lambda text: ${carriedTextIn('text')})[1]${named}`;
    return [
      { at, text: 'list_transform([' },
      { at: end, text },
    ];
  }
  return [
    { at, text: `(SELECT * REPLACE (${carriedTextIn(column)} AS ${column}) FROM ` },
    { at: end, text: `)${named}` },
  ];
}
