import type { TextEdit } from '../../../../core/sql.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { sqlName } from '../../protocol/sql-text.ts';
import { carriedTextIn } from '../../view-text.ts';
import type { TreeNode } from './parse-tree.ts';
import { isWord } from './token-cursor.ts';
import type { Token } from './tokenizer.ts';

/** Where a query over catalogs gets the texts of views. */
export interface ViewTextUse {
  /** An offset of bytes. */
  readonly at: number;
  /** Of the column with the text; undefined where the text is the value itself. */
  readonly column: string | undefined;
  /** What it is called where the caller gives it no name; undefined where it needs none. */
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

/** Of one of DuckDB's own views, or of a function in FROM. */
export function viewTextsOf(node: TreeNode, name: string): ViewTextUse | undefined {
  const key = asciiLower(name);
  const column = Object.hasOwn(textColumns, key) ? textColumns[key] : undefined;
  if (column === undefined || typeof node.query_location !== 'number') return undefined;
  return { at: node.query_location, column, name: isNamed(node) ? undefined : name };
}

/** Of a function that gives the text of one view. */
export function viewTextOf(node: TreeNode, isSelected: boolean): ViewTextUse | undefined {
  const name = asciiLower(String(node.function_name));
  if (name !== 'pg_get_viewdef' || typeof node.query_location !== 'number') return undefined;
  return { at: node.query_location, column: undefined, name: isSelected && !isNamed(node) ? name : undefined };
}

function isNamed({ alias }: TreeNode): boolean {
  return typeof alias === 'string' && alias !== '';
}

/** What is to be put into a text so that it gets what views carry. Places are offsets of characters. */
export function viewTextEdits(tokens: readonly Token[], uses: readonly ViewTextUse[]): readonly TextEdit[] {
  return uses.flatMap((use) => editsOf(tokens, use)).sort((a, b) => a.at - b.at);
}

/** Behind these stands the name of a table and nothing else. */
const plainNames = ['describe', 'desc', 'show', 'summarize', 'table'];

function editsOf(tokens: readonly Token[], { at, column, name }: ViewTextUse): TextEdit[] {
  const first = tokens.findIndex(({ start }) => start === at);
  if (first < 0 || plainNames.some((word) => isWord(tokens[first - 1], word))) return [];
  let last = first;
  while (tokens[last + 1]?.text === '.') last += 2;
  if (tokens[last + 1]?.text === '(' && tokens[last + 1]?.kind === 'mark') last = closing(tokens, last + 1);
  const end = tokens[last]?.end;
  if (end === undefined || (isWord(tokens[last + 1], 'with') && isWord(tokens[last + 2], 'ordinality'))) return [];
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

function closing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const { kind, text } = tokens[index] as Token;
    if (kind === 'mark' && text === '(') depth++;
    if (kind === 'mark' && text === ')' && --depth === 0) return index;
  }
  return tokens.length;
}
