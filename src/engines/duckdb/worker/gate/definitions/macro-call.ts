import { AppError } from '../../../../../core/errors/app-error.ts';
import type { Definition, DefinitionForm, MacroParameter } from '../../../../../core/sql/definition.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { didYouMean } from '../../../../../core/text/did-you-mean.ts';
import type { Token } from '../../../../../core/text/tokens.ts';
import { nameOf } from '../text/statement-cursor.ts';
import { itemsIn, type TokenRange } from '../text/token-groups.ts';

/** An argument of a call, in the order of the call. */
interface Argument extends TokenRange {
  /** Undefined: by its place. */
  readonly name: string | undefined;
}

/** The value of a parameter: a range of the caller's text, or the text of its default. */
export type Value = TokenRange | string;

/** The values of the call whose parenthesis opens here, for the form that fits them. */
export function valuesOf(
  macro: Definition,
  tokens: readonly Token[],
  list: { readonly open: number; readonly close: number },
): { readonly form: DefinitionForm; readonly values: readonly Value[] } {
  const given = argumentsIn(tokens, list);
  const position = tokens[list.open]?.start;
  const star = given.find(({ from, to }) => to - from === 1 && tokens[from]?.text === '*');
  if (star !== undefined || given.some(({ from, to }) => from >= to)) throw wrongValues(macro, given, position);
  const taken = macro.forms.flatMap((form) => {
    const values = valuesFor(form.parameters, given);
    return values === undefined ? [] : [{ form, values }];
  });
  const [first, ...others] = taken;
  if (first === undefined) throw wrongValues(macro, given, position);
  if (others.length === 0) return first;
  const { name } = macro;
  throw new AppError('sql_error', `macro ${name} has several forms that take these values`, {
    hint: `it is called as ${calls(
      name,
      taken.map(({ form }) => form),
    )}: give every value`,
    position,
  });
}

function argumentsIn(
  tokens: readonly Token[],
  { open, close }: { readonly open: number; readonly close: number },
): readonly Argument[] {
  if (close === open + 1) return [];
  return itemsIn(tokens, { from: open + 1, to: close }).map(({ from, to }) => {
    const [first, second] = [tokens[from], tokens[from + 1]];
    const isNamed = from + 1 < to && (second?.text === ':=' || second?.text === '=>');
    const name = isNamed && first !== undefined ? nameOf(first) : undefined;
    return name === undefined ? { from, to, name } : { from: from + 2, to, name: asciiLower(name) };
  });
}

/** Undefined where it does not take them. */
function valuesFor(parameters: readonly MacroParameter[], given: readonly Argument[]): readonly Value[] | undefined {
  const values: (Value | undefined)[] = parameters.map((parameter) => parameter.default);
  const isGiven = new Set<number>();
  let hasNames = false;
  for (const [place, argument] of given.entries()) {
    const { name } = argument;
    if (name === undefined && hasNames) return undefined;
    hasNames ||= name !== undefined;
    const index = name === undefined ? place : parameters.findIndex((parameter) => asciiLower(parameter.name) === name);
    if (parameters[index] === undefined || isGiven.has(index)) return undefined;
    isGiven.add(index);
    values[index] = argument;
  }
  const whole = values.filter((value) => value !== undefined);
  return whole.length === values.length ? whole : undefined;
}

function wrongValues({ name, forms }: Definition, given: readonly Argument[], position: number | undefined): AppError {
  const parameters = forms.flatMap((form) => form.parameters.map((parameter) => parameter.name));
  const known = new Set(parameters.map(asciiLower));
  const wrong = given.find((argument) => argument.name !== undefined && !known.has(argument.name))?.name;
  const why =
    wrong === undefined
      ? `macro ${name} does not take these values`
      : `macro ${name} has no parameter ${wrong}${didYouMean(wrong, parameters)}`;
  return new AppError('sql_error', why, { hint: `it is called as ${calls(name, forms)}`, position });
}

function calls(name: string, forms: readonly DefinitionForm[]): string {
  const withDefault = (parameter: MacroParameter): string =>
    parameter.default === undefined ? parameter.name : `${parameter.name} := ${parameter.default}`;
  return forms.map(({ parameters }) => `${name}(${parameters.map(withDefault).join(', ')})`).join(' or ');
}
