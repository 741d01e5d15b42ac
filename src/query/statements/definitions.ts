import { AppError } from '../../core/errors/app-error.ts';
import { randomBase32 } from '../../core/names/handle.ts';
import {
  type Definition,
  type DefinitionForm,
  type DefinitionKind,
  definitionExists,
  definitionKey,
} from '../../core/sql/definition.ts';
import type { DefinedForm, Statement } from '../../core/sql/sql.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { describeOwnText } from '../rows/run-query.ts';
import type { StatementRun } from '../statement-run.ts';
import { bodyWithFullNames, frameNamer } from '../tables/full-names.ts';
import { openTables } from '../tables/open-tables.ts';
import { ofSession, refuseTemporary } from '../tables/temporary-tables.ts';

type Define = Extract<Statement, { kind: 'define' }>;
type Undefine = Extract<Statement, { kind: 'undefine' }>;

const mostOfSession = 100;
const someValues = ['BIGINT', 'VARCHAR', 'BIGINT[]'].map((type) => `(CAST(NULL AS ${type}))`);

/** CREATE of a macro or type. False where there is one of the name, which is to stay. */
export async function define(call: StatementRun, statement: Define): Promise<boolean> {
  const { frames, principal, options } = call;
  const { what, name, ifTaken, isTemporary = false } = statement;
  const session = isTemporary ? ofSession(options.temporary, what === 'type' ? 'TYPE' : 'MACRO') : undefined;
  const forms: DefinitionForm[] = [];
  for (const form of statement.forms) forms.push(await checkedForm(call, { what, form, isTemporary }));
  const definition = { kind: what, name, id: randomBase32(26), forms };
  if (session === undefined) return await frames.define(principal, definition, ifTaken);
  const key = definitionKey(definition);
  const before = session.definitions.get(key);
  if (before !== undefined && ifTaken === 'keep') return false;
  if (before !== undefined && (ifTaken === 'fail' || before.kind !== what)) throw definitionExists(before);
  if (before === undefined && session.definitions.size >= mostOfSession) throw tooManyOfSession();
  session.define(key, definition);
  return true;
}

/** DROP of a macro or type. False where there is none, which is no error. */
export async function undefine(
  { frames, principal, options: { temporary } }: StatementRun,
  { what, name, ifAbsent }: Undefine,
): Promise<boolean> {
  const key = definitionKey({ kind: what, name });
  if (temporary?.definitions.get(key)?.kind === what) {
    temporary.define(key, undefined);
    return true;
  }
  if (await frames.undefine(principal, { kind: what, name })) return true;
  const all = await frames.definitions(principal);
  const other = all.find((each) => definitionKey(each) === key);
  if (other !== undefined) throw otherKind(other);
  if (ifAbsent === 'ignore') return false;
  const names = all.filter(({ kind }) => kind === what).map((each) => each.name);
  throw new AppError('handle_not_found', `there is no ${what} ${name}${didYouMean(name, names)}`, {
    hint: `duckdb_${what === 'type' ? 'types' : 'functions'}() lists them`,
  });
}

/** With the whole name of each table that it reads. A body that the engine cannot plan is refused. */
async function checkedForm(
  call: StatementRun,
  {
    what,
    form,
    isTemporary,
  }: { readonly what: DefinitionKind; readonly form: DefinedForm; readonly isTemporary: boolean },
): Promise<DefinitionForm> {
  const { query, parameters, segments } = form;
  if (!isTemporary) refuseTemporary('a macro', query, call.options.temporary);
  await using opened = await openTables(call, query);
  const body = bodyWithFullNames(form, frameNamer(opened.tables));
  const defaults = parameters.flatMap((parameter) => parameter.default ?? []);
  const describe = async (sql: string): Promise<unknown> => await describeOwnText(call, { sql });
  if (defaults.length > 0) await describe(`SELECT ${defaults.map((sql) => `(${sql})`).join()}`);
  await describeBody(body, async (text) => await describe(asQuery(what, text)));
  return { parameters, sql: segments.map(({ text }) => text).join(''), body };
}

/** If a parameter without a type fails, some value may work: `ORDER BY $1` and `cast_to_type(x, $1)` are errors. */
async function describeBody(
  body: DefinitionForm['body'],
  describe: (text: string) => Promise<unknown>,
): Promise<unknown> {
  try {
    return await describe(withParameters(body));
  } catch (error) {
    if (!body.some((piece) => typeof piece === 'number')) throw error;
    const errors: unknown[] = [];
    for (const value of someValues) {
      try {
        return await describe(body.map((piece) => (typeof piece === 'string' ? piece : value)).join(''));
      } catch (other) {
        errors.push(other);
      }
    }
    const isOfParameters = error instanceof AppError && /parameter/i.test(error.message);
    throw isOfParameters ? errors[0] : error;
  }
}

/** A parameter that the body does not name has no number. */
function withParameters(body: DefinitionForm['body']): string {
  const named = [...new Set(body.filter((piece) => typeof piece === 'number'))];
  return body.map((piece) => (typeof piece === 'string' ? piece : `$${named.indexOf(piece) + 1}`)).join('');
}

function asQuery(what: DefinitionKind, body: string): string {
  switch (what) {
    case 'macro':
      return `SELECT (${body})`;
    case 'table macro':
      return body;
    case 'type':
      return `SELECT CAST(NULL AS ${body})`;
    default:
      return what satisfies never;
  }
}

function otherKind({ kind, name }: Definition): AppError {
  const statement = kind === 'table macro' ? 'DROP MACRO TABLE' : 'DROP MACRO';
  return new AppError('sql_error', `${name} is a ${kind}`, { hint: `${statement} drops it` });
}

function tooManyOfSession(): AppError {
  return new AppError('quota_exceeded', `the session has ${mostOfSession} temporary macros and types already`, {
    hint: 'drop those that are not needed any more',
  });
}
