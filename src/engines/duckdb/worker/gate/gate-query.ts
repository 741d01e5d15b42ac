import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../core/errors/app-error.ts';
import type { Definition } from '../../../../core/sql/definition.ts';
import type { Query, TableName } from '../../../../core/sql/sql.ts';
import type { SourceText } from '../../../../core/text/source-text.ts';
import { checkText } from '../../../../core/text/tokens.ts';
import { expandDefinitions } from './definitions/expand.ts';
import { gatedReads, hasLive } from './live/gated-reads.ts';
import { checkTokens } from './text/text-limits.ts';
import { checkExpressionList, checkTree, type TreeRules } from './tree/check-tree.ts';
import { movingErrors, parseQuery } from './tree/parse-query.ts';
import type { TreeNode } from './tree/parse-tree.ts';
import { starEdits } from './tree/row-ids.ts';
import { viewTextEdits } from './tree/view-texts.ts';

/** Kinds of text that are allowed beside a query, or required. */
export interface TextRules extends Omit<TreeRules, 'isPivoted'> {
  /** A list of this many expressions, each a value of one row alone. */
  readonly expressions?: number;
  /** May read DuckDB's catalogs: set where these hold nothing but the caller's tables. */
  readonly mayReadCatalogs?: boolean;
  /** The definitions that it may name. */
  readonly definitions?: readonly Definition[];
}

/** A query with every place in its text where it names a table. */
export interface GatedText extends Query {
  /** With definitions expanded. */
  readonly text: SourceText;
  readonly references: readonly { readonly table: TableName; readonly at: number | undefined }[];
  /** It has a PIVOT without a list of its values. */
  readonly isPivoted: boolean;
}

/** What stays of it in a statement. */
export function queryOf({ text: _, references: __, isPivoted: ___, ...query }: GatedText): Query {
  return query;
}

export type GateText = (text: SourceText, rules?: TextRules) => Promise<Query>;
export type GateReferences = (...part: Parameters<GateText>) => Promise<GatedText>;

/** Checks the text of a query; the result has exactly that text, with definitions expanded. */
export async function gateQuery(
  connection: Connection,
  text: SourceText,
  { definitions = [], ...rules }: TextRules = {},
): Promise<GatedText> {
  if (definitions.length === 0) return await gateText(connection, text, rules);
  const expanded = await movingErrors(text, () => expandDefinitions(connection, text, definitions));
  if (expanded === undefined) return await gateText(connection, text, rules);
  return await gateExpanded(connection, expanded.within(text), rules);
}

/** The same for a text whose definitions are expanded already. */
export async function gateExpanded(connection: Connection, text: SourceText, rules: TextRules): Promise<GatedText> {
  await movingErrors(text, async () => {
    checkText(text.sql);
    checkTokens(text.tokens);
  });
  return { ...(await gateText(connection, text, rules)), usesDefinitions: true };
}

async function gateText(
  connection: Connection,
  text: SourceText,
  { expressions, mayReadCatalogs = false, ...rules }: TextRules,
): Promise<GatedText> {
  return await movingErrors(text, async () => {
    const { sql, pieces } = text;
    const { tree, isPivoted } = await parseQuery(connection, text);
    if (expressions !== undefined) checkExpressionList(tree, expressions);
    const facts = checkTree(tree, text, { ...rules, isPivoted });
    if (facts.readsCatalogs && !mayReadCatalogs) throw catalogsHere();
    // The values that DuckDB looks up become a type, which catalogs would show.
    if (facts.readsCatalogs && isPivoted) throw listPivot('of catalogs');
    // The columns of the statement must be known before its rows are fetched.
    if (hasLive(facts.live) && isPivoted) throw listPivot('over the external database');
    const tables = facts.tables.map((table) => ({
      ...table,
      position: table.position === undefined ? undefined : text.nearest(table.position),
    }));
    const stars = facts.rowIds?.stars;
    const rowIds = facts.rowIds && { rowIds: { edits: stars && starEdits(text.tokens, stars) } };
    const live = hasLive(facts.live) && { live: gatedReads(tree, text, facts.live) };
    const catalogs = facts.readsCatalogs && {
      readsCatalogs: true as const,
      viewTextEdits: facts.viewTexts.length === 0 ? undefined : viewTextEdits(text.tokens, facts.viewTexts),
    };
    const describes = facts.describesTables && !isPivoted && { describesTables: true as const };
    const found = { text, sql, pieces, tables, references: facts.references, isPivoted };
    return { ...found, ...rowIds, ...catalogs, ...describes, ...live, ...parametersOf(tree, facts.parameters) };
  });
}

function catalogsHere(): AppError {
  return new AppError('sql_forbidden', 'catalogs cannot be read here', {
    hint: 'keep what they say as a frame, and read that one: CREATE TABLE x AS FROM information_schema.columns',
  });
}

function listPivot(which: string): AppError {
  return new AppError('sql_forbidden', `a PIVOT ${which} must list its values`, {
    hint: 'write PIVOT … ON column IN (…)',
  });
}

/** Of `?` and `$1`, which must have no gaps, or of `$name`; DuckDB's parser refuses a mix. */
function parametersOf(tree: TreeNode, used: ReadonlySet<string>): Pick<Query, 'parameterCount' | 'parameterNames'> {
  if ([...used].some((name) => !/^[0-9]+$/.test(name))) {
    const parameterNames = namesInOrder(tree);
    return { parameterCount: parameterNames.length, parameterNames };
  }
  for (let number = 1; number <= used.size; number++) {
    if (!used.has(String(number))) {
      throw new AppError('sql_error', `parameter $${number} is missing`, {
        hint: 'number parameters from $1 without gaps',
      });
    }
  }
  return { parameterCount: used.size };
}

function namesInOrder({ named_param_map: map }: TreeNode): string[] {
  const entries = (Array.isArray(map) ? map : []) as readonly { readonly key: string; readonly value: number }[];
  return [...entries].sort((a, b) => a.value - b.value).map(({ key }) => key);
}
