import { FrameholdError } from '#client/errors.ts';
import { dialectOf } from '../editor/dialects.ts';
import { kindOf } from '../engines.ts';
import type { StatementRun, StatementToRun } from '../run/statement-run.ts';
import { statementsToRun } from '../run/statements-to-run.ts';
import { currentTab } from '../sql-tabs.ts';
import { typedValue } from './kept-values.ts';
import type { ParameterFault } from './parameter-fields.tsx';
import { boundParameters, type ParameterValues, WrongValue } from './parameter-value.ts';
import { type StatementParameter, statementParameters } from './statement-parameters.ts';

export type ParameterizedStatement = StatementToRun & { readonly parameters: readonly StatementParameter[] };

/** The statements that would run at a place of the text, in the dialect of the tab that is shown. */
export function statementsAt(place: Parameters<typeof statementsToRun>[0]): readonly ParameterizedStatement[] {
  const { engine } = currentTab.peek();
  const rules = dialectOf(kindOf(engine)).name === 'spark' ? 'spark' : 'duckdb';
  return statementsToRun(place, rules).map((each) => ({
    ...each,
    // The external database takes texts alone.
    parameters: engine === 'tsdb' ? [] : statementParameters(each.statement, rules),
  }));
}

/** The statements with their values, or the fault of one. */
export function bind(
  tab: string,
  statements: readonly ParameterizedStatement[],
): readonly StatementToRun[] | WrongValue {
  try {
    return statements.map(({ statement, textAt, parameters }) => ({
      statement,
      textAt,
      params: boundParameters(parameters, (key) => typedValue(tab, statement, key)),
    }));
  } catch (error) {
    if (error instanceof WrongValue) return error;
    throw error;
  }
}

/** The values of all statements of a text, for a link. Of several with the same name the one at the place counts. */
export function typedValues(
  tab: string,
  text: string,
  place: Parameters<typeof statementsToRun>[0] = { text, from: 0, to: 0 },
): ParameterValues {
  const statements = [...statementsAt({ text, from: 0, to: text.length }), ...statementsAt(place)];
  return Object.fromEntries(
    statements.flatMap(({ statement, parameters }) =>
      parameters.map(({ key }) => [key, typedValue(tab, statement, key)] as const),
    ),
  );
}

/** The fault of an error that names a parameter. */
export function faultOf({ params }: StatementRun, error: unknown): ParameterFault | undefined {
  if (params === undefined || !(error instanceof FrameholdError)) return undefined;
  const [, name, place, told] =
    /\bparams(?:\.([\p{L}\d_]+)|\[(\d+)\])|\bparameter \$?(\S+) (?:has no value|is not of type)/u.exec(error.message) ??
    [];
  const key = name ?? told ?? (place === undefined ? undefined : String(Number(place) + 1));
  return key === undefined ? undefined : { key, message: error.message };
}
