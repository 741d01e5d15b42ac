import { AppError } from '../../../../../core/errors/app-error.ts';
import type { TableReference } from '../../../../../core/sql/sql.ts';
import { tokenIndex } from '../../../../../core/text/source-text.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import type { GatedText } from '../gate-query.ts';
import { nameOf } from '../text/statement-cursor.ts';

/** The place of each table that the query reads, so that its name can be written in full. */
export function placed(
  { tokens }: TokenizedText,
  references: GatedText['references'],
  reader: 'a view' | 'a macro',
): TableReference[] {
  return references.map(({ table, at }) => {
    const { catalog, schema, name } = table;
    const parts = [catalog, schema, name].filter((part) => part !== undefined);
    const end = at === undefined ? undefined : endOfName(tokens, tokenIndex(tokens, at), parts);
    if (at === undefined || end === undefined) {
      throw new AppError('sql_forbidden', `${reader} cannot read ${JSON.stringify(name)} in this way`, {
        hint: 'name the table in FROM, or make a frame: CREATE TABLE "x" AS SELECT …',
      });
    }
    return { table, start: at, end };
  });
}

/** Undefined if the text at this place is not exactly this name. */
function endOfName(tokens: readonly Token[], first: number, parts: readonly string[]): number | undefined {
  let index = first;
  let end: number | undefined;
  for (const [number, part] of parts.entries()) {
    if (number > 0 && tokens[index++]?.text !== '.') return undefined;
    const token = tokens[index++];
    if (token === undefined || nameOf(token) !== part) return undefined;
    end = token.end;
  }
  return tokens[index]?.text === '.' ? undefined : end;
}
