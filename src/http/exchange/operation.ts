import type { Action } from '../../auth/rights.ts';
import type { ErrorCode } from '../../core/errors/app-error.ts';
import type { JsonSchema, ParameterTable } from './parameters.ts';

export interface Body {
  readonly description: string;
  /** By media type. */
  readonly content: Readonly<Record<string, JsonSchema>>;
}

/** The input and output of a route's method, as in the OpenAPI document. */
export interface Operation {
  /** The right that it needs. `open`: anybody. `known`: anybody, but identified callers see more. */
  readonly access: Action | 'open' | 'known';
  readonly summary: string;
  readonly description?: string;
  /** Validates the query string. */
  readonly parameters: ParameterTable;
  /** Headers of its own. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  /** By the name in the route's path. */
  readonly segments?: ParameterTable;
  readonly requestBody?: Body & { readonly required: boolean };
  /** By status. */
  readonly responses: Readonly<Record<number, Body>>;
  readonly errors: readonly ErrorCode[];
  /** Schema of their bodies, if they differ from the standard one. */
  readonly errorSchema?: JsonSchema;
}
