import type { Connection } from '@framehold/duckdb';
import { AppError } from '../../../../../core/errors/app-error.ts';
import {
  type Definition,
  definitionKey,
  longestDefinition,
  type MacroParameter,
} from '../../../../../core/sql/definition.ts';
import type { DefinedForm, Statement } from '../../../../../core/sql/sql.ts';
import { asciiLower } from '../../../../../core/text/ascii-lower.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { Token, TokenizedText } from '../../../../../core/text/tokens.ts';
import { type GatedText, type GateReferences, gateExpanded, queryOf } from '../gate-query.ts';
import { takeType } from '../statements/column-definitions.ts';
import { takeCreate } from '../statements/create-table.ts';
import { gateExpressions, isOneExpression } from '../statements/gate-expressions.ts';
import type { StatementCursor } from '../text/statement-cursor.ts';
import { isItemEnd } from '../text/token-groups.ts';
import { movingErrors } from '../tree/parse-query.ts';
import { placed } from '../tree/placed-references.ts';
import { refuseBuiltInFunction, refuseBuiltInType, takeDefinitionName } from './definition-name.ts';
import { expandDefinitions } from './expand.ts';
import { ExpandedText } from './expanded-text.ts';

const mostParameters = 100;
const mostForms = 20;

export interface DefinitionGate {
  readonly connection: Connection;
  /** The definitions that the statement may name. */
  readonly definitions: readonly Definition[];
  readonly gate: GateReferences;
}

export const definitionKinds = ['macro', 'function', 'type'];

/** CREATE [OR REPLACE] [TEMP] MACRO | FUNCTION | TYPE [IF NOT EXISTS] name … The saved text is gated again at each use. */
export async function createDefinition(
  cursor: StatementCursor,
  text: TokenizedText,
  sources: DefinitionGate,
): Promise<Statement> {
  const { kind, head } = takeCreate(cursor, text, ...definitionKinds);
  const what = kind === 'type' ? 'type' : 'macro';
  const { name, position } = takeDefinitionName(cursor, what);
  const { connection, definitions } = sources;
  if (what === 'macro') await refuseBuiltInFunction(connection, name, position);
  else await refuseBuiltInType(connection, name, position);
  const own = definitionKey({ kind: what, name });
  const others = { ...sources, definitions: definitions.filter((definition) => definitionKey(definition) !== own) };
  if (what === 'macro') refuseCallOfItself(cursor, text, name);
  const { isTable, forms } =
    what === 'type' ? await typeForm(cursor, text, others) : await macroForms(cursor, text, others);
  if (!cursor.done) throw cursor.unexpected('the end of the statement');
  const length = forms.reduce(
    (sum, { segments }) => sum + segments.reduce((all, each) => all + each.text.length, 0),
    0,
  );
  if (length > longestDefinition) throw tooLong(what, name, position);
  return { kind: 'define', what: isTable ? 'table macro' : what, name, ...head, forms };
}

/** (parameter, parameter := default, …) AS [TABLE] body, … */
async function macroForms(
  cursor: StatementCursor,
  text: TokenizedText,
  sources: DefinitionGate,
): Promise<{ readonly isTable: boolean; readonly forms: readonly DefinedForm[] }> {
  const forms: DefinedForm[] = [];
  let isTable: boolean | undefined;
  do {
    const { position } = cursor;
    const parameters = await takeParameters(cursor, sources);
    if (!cursor.takes('as')) throw cursor.unexpected('AS and a body');
    // Not the query TABLE x.
    const isOfTable = cursor.takes('table');
    isTable ??= isOfTable;
    if (isTable !== isOfTable) {
      throw new AppError('sql_error', 'all forms of a macro are values, or all are tables', { position });
    }
    const tokens = takeBody(cursor, isTable);
    if (tokens.length === 0) throw cursor.unexpected(isTable ? 'a query' : 'an expression');
    const form = await formOf(parameters, text.sql, bodyOf(tokens, isTable), sources);
    if (forms.some((other) => takesAsMany(other, form))) throw sameValues(position);
    forms.push(form);
    if (forms.length > mostForms)
      throw new AppError('sql_error', `a macro has at most ${mostForms} forms`, { position });
  } while (cursor.takesMark(','));
  return { isTable: isTable === true, forms };
}

async function takeParameters(cursor: StatementCursor, { gate }: DefinitionGate): Promise<readonly MacroParameter[]> {
  const parameters: MacroParameter[] = [];
  if (!cursor.takesMark('(')) throw cursor.unexpected('the parameters in parentheses');
  if (cursor.takesMark(')')) return parameters;
  do {
    const { position } = cursor;
    const name = cursor.takeName('the name of a parameter');
    const isRepeated = parameters.some((other) => asciiLower(other.name) === asciiLower(name));
    if (isRepeated) throw new AppError('sql_error', `parameter ${name} is there twice`, { position });
    if (parameters.length === mostParameters)
      throw new AppError('sql_error', `a macro has at most ${mostParameters} parameters`, { position });
    const isOptional = cursor.peek()?.text === ':=';
    if (!isOptional && !cursor.seesMark(',') && !cursor.seesMark(')')) throw typedParameter(name, cursor.position);
    if (!isOptional) {
      if (parameters.some((other) => other.default !== undefined)) throw afterDefault(name, position);
      parameters.push({ name });
      continue;
    }
    cursor.take();
    const tokens = cursor.takeUntil(isItemEnd);
    if (tokens.length === 0) throw cursor.unexpected('a value');
    const [value = ''] = await gateExpressions([tokens], gate);
    parameters.push({ name, default: value });
  } while (cursor.takesMark(','));
  if (!cursor.takesMark(')')) throw cursor.unexpected('a comma or a closing parenthesis');
  return parameters;
}

/** A query goes to the end, unless it stands in parentheses and another form follows. */
function takeBody(cursor: StatementCursor, isTable: boolean): readonly Token[] {
  const { index } = cursor;
  if (!isTable) return cursor.takeUntil(isItemEnd);
  if (cursor.seesMark('(')) {
    const tokens = cursor.takeUntil(isItemEnd);
    if (tokens.at(-1)?.text === ')' && cursor.seesMark(',') && cursor.seesMark('(', 1)) return tokens;
    cursor.skipTo(index);
  }
  return cursor.takeUntil();
}

/** A body, with the text of ours around it as which it is checked. */
interface Body {
  readonly before: string;
  readonly tokens: readonly Token[];
  readonly after: string;
}

function bodyOf(tokens: readonly Token[], isTable: boolean): Body {
  if (isTable) return { before: '', tokens, after: '' };
  if (isOneExpression(tokens)) return { before: 'SELECT (', tokens, after: ')' };
  throw new AppError('sql_error', 'expected one expression', { position: tokens[0]?.start });
}

/** AS type, of any that a cast may go to. */
async function typeForm(
  cursor: StatementCursor,
  text: TokenizedText,
  sources: DefinitionGate,
): Promise<{ readonly isTable: false; readonly forms: readonly DefinedForm[] }> {
  if (!cursor.takes('as')) throw cursor.unexpected('AS and a type');
  const { position: start } = cursor;
  const tokens = takeType(cursor, () => false);
  if (!isOneExpression(tokens)) throw new AppError('sql_error', 'expected a type', { position: start });
  if (tokens[0]?.word === 'enum' && (tokens[1]?.text !== '(' || tokens[2]?.kind !== 'string')) {
    throw new AppError('sql_forbidden', 'an ENUM lists its values', {
      hint: "write ENUM ('a', 'b'); of the values of a column: SELECT string_agg(DISTINCT ''''||x||'''', ', ') FROM t",
      position: start,
    });
  }
  const body = { before: 'SELECT CAST(NULL AS ', tokens, after: ')' };
  return { isTable: false, forms: [await formOf([], text.sql, body, sources)] };
}

/** Cut where parameters stand, with other definitions in the place of their names, and checked. */
async function formOf(
  parameters: readonly MacroParameter[],
  sql: string,
  { before, tokens, after }: Body,
  { connection, definitions }: DefinitionGate,
): Promise<DefinedForm> {
  const start = tokens[0]?.start ?? 0;
  const written = new SourceText().ours(before).callers(sql, start, tokens.at(-1)?.end).ours(after);
  const names = parameters.map(({ name }) => name);
  const expanded = await movingErrors(written, () => expandDefinitions(connection, written, definitions, names));
  const text = expanded ?? new ExpandedText().callers(written.sql);
  const gated = await gateExpanded(connection, text.within(written), { mayReadCatalogs: true });
  refuseOfStatement(gated, start);
  const shift = before.length;
  const own = placed(gated.text, gated.references, 'a macro').map(({ table, start: from, end }) => {
    return { table, start: from - shift, end: end - shift };
  });
  // The text around the body is no part of it and has no names.
  const segments = text.slice(shift, text.length - after.length);
  return {
    parameters,
    segments: segments.map((each) => ({ text: each.text, parameter: each.parameter })),
    query: queryOf(gated),
    references: own,
  };
}

function refuseOfStatement({ parameterCount, rowIds, isPivoted }: GatedText, position: number): void {
  const refuse = (message: string, hint: string): never => {
    throw new AppError('sql_forbidden', message, { hint, position });
  };
  if (parameterCount > 0)
    refuse('the body of a macro takes no parameters of a statement', 'name a parameter of the macro');
  if (rowIds !== undefined) refuse('a macro cannot read rowid', 'number the rows: row_number() OVER ()');
  if (isPivoted) refuse('a PIVOT in a macro must list its values', 'write PIVOT … ON column IN (…)');
}

/** With two such forms a call would be ambiguous. */
function takesAsMany(a: DefinedForm, b: DefinedForm): boolean {
  return a.parameters.length === b.parameters.length;
}

function refuseCallOfItself(cursor: StatementCursor, { tokens }: TokenizedText, name: string): void {
  for (let index = cursor.index; index < tokens.length; index++) {
    const token = tokens[index];
    const isCall = token?.word === asciiLower(name) && tokens[index + 1]?.text === '(';
    if (isCall) {
      throw new AppError('sql_error', `macro ${name} cannot call itself`, {
        hint: 'WITH RECURSIVE repeats a query',
        position: token.start,
      });
    }
  }
}

function typedParameter(name: string, position: number): AppError {
  return new AppError('sql_forbidden', `parameter ${name} cannot have a type`, {
    hint: `cast it in the body: ${name}::INTEGER`,
    position,
  });
}

function afterDefault(name: string, position: number): AppError {
  return new AppError('sql_error', `parameter ${name} without a default stands behind one with a default`, {
    hint: 'put those without a default first',
    position,
  });
}

function sameValues(position: number): AppError {
  return new AppError('sql_error', 'two forms of a macro have as many parameters', {
    hint: 'forms are told apart by the number of values that they take',
    position,
  });
}

function tooLong(what: 'macro' | 'type', name: string, position: number): AppError {
  const message = `${what} ${name} is longer than ${longestDefinition} characters with what it uses`;
  return new AppError('too_large', message, { hint: 'keep rows in between as a frame, or use a view', position });
}
