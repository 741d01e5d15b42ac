import { sqlName } from '@framehold/columns';
import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Definition, DefinitionForm } from '../../../../../core/sql/definition.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import type { Segment } from '../../../../../core/text/source-text.ts';
import { type Token, tokenize } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { lambdasIn, queriesIn, type Scope } from './body-scopes.ts';
import { ExpandedText } from './expanded-text.ts';

/** The argument of a call for a parameter. */
export interface GivenValue {
  /** In parentheses. */
  readonly segments: () => readonly Segment[];
  /** The first parts of the names of its columns, in lower case. */
  readonly columns: ReadonlySet<string>;
  readonly hasWindow: boolean;
}

/** A replacement of a part of the body's text. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly segments: () => readonly Segment[];
}

interface PlacedValue extends GivenValue, Pick<Edit, 'from' | 'to'> {
  readonly parameter: number;
}

/**
 * The body of a macro with values in the place of its parameters. Columns in a value are the caller's, also where the parameter stands
 * in a subquery or a lambda of the body, which may have the same names.
 */
export function expandedBody(
  macro: Definition,
  { parameters, body }: DefinitionForm,
  values: readonly GivenValue[],
  position: number,
): ExpandedText {
  const placed: PlacedValue[] = [];
  let sql = '';
  for (const piece of body) {
    const value = typeof piece === 'string' ? undefined : values[piece];
    const text = typeof piece === 'string' ? piece : sqlName(parameters[piece]?.name ?? '');
    const place = { from: sql.length, to: sql.length + text.length };
    if (typeof piece === 'number' && value !== undefined) placed.push({ ...value, ...place, parameter: piece });
    sql += text;
  }
  const ours = (text: string): readonly Segment[] => [{ text, at: position, isOurs: true }];
  const edits = new Map<number, Edit>(placed.map((value) => [value.from, value]));
  const ofCaller = placed.filter(({ columns }) => columns.size > 0);
  const tokens = ofCaller.length === 0 ? [] : tokenize(sql);
  const inside = ({ before, behind }: Scope): readonly PlacedValue[] => {
    const [start, end] = [tokens[before]?.end ?? 0, tokens[behind]?.start ?? sql.length];
    return ofCaller.filter(({ from, to }) => from >= start && to <= end);
  };
  for (const lambda of lambdasIn(tokens)) {
    const columns = new Set(inside(lambda).flatMap((value) => [...value.columns]));
    for (const name of lambda.names.filter((each) => columns.has(each))) {
      const text = ours(sqlName(`${name} of ${macro.name}`));
      for (const { start: from, end: to } of tokensNaming(name, tokens.slice(lambda.before + 1, lambda.behind)))
        if (!edits.has(from)) edits.set(from, { from, to, segments: () => text });
    }
  }
  // The query of a table macro is planned as DuckDB plans it, beside the other tables.
  for (const query of macro.kind === 'macro' ? queriesIn(tokens) : []) {
    const moved = inside(query);
    if (moved.length === 0) continue;
    if (moved.some(({ hasWindow }) => hasWindow)) throw windowInQuery(macro, position);
    const table = sqlName(`values of ${macro.name}`);
    const column = (parameter: number): string => sqlName(`${parameter + 1}`);
    for (const { from, to, parameter } of moved)
      edits.set(from, { from, to, segments: () => ours(`${table}.${column(parameter)}`) });
    const once = [...new Map(moved.map((value) => [value.parameter, value])).values()];
    const row = (): readonly Segment[] => [
      ...once.flatMap(({ parameter, segments }, index) => [
        ...ours(index === 0 ? '(SELECT ' : ', '),
        ...segments(),
        ...ours(` AS ${column(parameter)}`),
      ]),
      ...ours(`) AS ${table}`),
    ];
    const rows = sqlName(`rows of ${macro.name}`);
    const insert = (at: number, segments: () => readonly Segment[]): void => {
      edits.set(at, { from: at, to: at, segments });
    };
    const [open, close, value] = [tokens[query.before], tokens[query.behind], tokens[query.value ?? -1]];
    if (value !== undefined) {
      insert(value.start, () => ours('(SELECT '));
      insert(close?.end ?? sql.length, () => [...ours(' FROM '), ...row(), ...ours(')')]);
    } else {
      insert(open?.end ?? 0, () => [...ours(`SELECT ${rows}.* FROM `), ...row(), ...ours(', LATERAL (')]);
      insert(close?.start ?? sql.length, () => ours(`) AS ${rows}`));
    }
  }
  const text = new ExpandedText();
  let at = 0;
  for (const { from, to, segments } of [...edits.values()].sort((a, b) => a.from - b.from)) {
    text.ours(sql.slice(at, from), position).add(segments());
    at = to;
  }
  return text.ours(sql.slice(at), position);
}

function windowInQuery({ name }: Definition, position: number): AppError {
  return new AppError('sql_error', `a query of macro ${name} takes no window function as a value`, {
    hint: 'compute it in a subquery, and give the macro its column',
    position,
  });
}

/** Uses of a lambda's parameter: neither a function, nor a field, nor the name of an argument or of a struct's item. */
function tokensNaming(name: string, tokens: readonly Token[]): readonly Token[] {
  return tokens.filter((token, index) => {
    const [last = '', next = ''] = [tokens[index - 1]?.text, tokens[index + 1]?.text];
    const isItem = next === ':' && /^[{,]$/.test(last) && index > tokens.findIndex(({ text }) => text === ':');
    const isOther = isItem || last === '.' || ['(', ':=', '=>'].includes(next);
    return !isOther && asciiLower(nameOf(token) ?? '') === name;
  });
}
