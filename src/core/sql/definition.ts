import { AppError } from '../errors/app-error.ts';

/**
 * A macro or type of SQL: it is expanded in each statement that uses it, before the statement is checked. So it has no meaning
 * outside of the statements of its tenant.
 */
export interface Definition {
  readonly kind: DefinitionKind;
  /** As written; names are compared without regard to case. */
  readonly name: string;
  /** New each time that it is made. */
  readonly id: string;
  /** A macro has one for each list of parameters that it takes, a type one without parameters. */
  readonly forms: readonly DefinitionForm[];
}

export type DefinitionKind = 'macro' | 'table macro' | 'type';

export interface DefinitionForm {
  readonly parameters: readonly MacroParameter[];
  /** Names of tables are as its author wrote them. Other definitions stand in the place of their names. */
  readonly sql: string;
  /** The same with whole names of tables, cut where parameters stand: each by its number. */
  readonly body: readonly (string | number)[];
}

export interface MacroParameter {
  readonly name: string;
  /** The text of an expression. Undefined: each call must give a value. */
  readonly default?: string | undefined;
}

/** Most characters of all texts of a definition together. */
export const longestDefinition = 65_536;

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export function isDefinitionName(name: string): boolean {
  return namePattern.test(name);
}

/** By this it is found: macros of both kinds share their names, types have names of their own. */
export function definitionKey({ kind, name }: Pick<Definition, 'kind' | 'name'>): string {
  return `${kind === 'type' ? 'type' : 'macro'}.${name.toLowerCase()}`;
}

/** Undefined where the value is none. */
export function parseDefinition(value: unknown): Definition | undefined {
  const { kind, name, id, forms } = (value ?? {}) as Partial<Definition>;
  const isKnown = kind === 'macro' || kind === 'table macro' || kind === 'type';
  if (!isKnown || typeof name !== 'string' || !isDefinitionName(name) || typeof id !== 'string' || !/^\w+$/.test(id))
    return undefined;
  return Array.isArray(forms) && forms.length > 0 && forms.every(isForm) ? { kind, name, id, forms } : undefined;
}

function isForm(value: unknown): value is DefinitionForm {
  const { parameters, sql, body } = (value ?? {}) as Partial<DefinitionForm>;
  if (!Array.isArray(parameters) || !Array.isArray(body) || typeof sql !== 'string') return false;
  const isPiece = (piece: unknown): boolean =>
    typeof piece === 'string' || (Number.isInteger(piece) && parameters[piece as number] !== undefined);
  return parameters.every(isParameter) && body.every(isPiece);
}

function isParameter(value: unknown): value is MacroParameter {
  const { name, default: sql } = (value ?? {}) as Partial<MacroParameter>;
  return typeof name === 'string' && (sql === undefined || typeof sql === 'string');
}

export function definitionExists({ kind, name }: Pick<Definition, 'kind' | 'name'>): AppError {
  const word = kind === 'type' ? 'TYPE' : 'MACRO';
  return new AppError('handle_exists', `there is a ${kind} ${name} already`, {
    hint: `CREATE OR REPLACE ${word} replaces it, DROP ${kind === 'table macro' ? 'MACRO TABLE' : word} drops it`,
  });
}
