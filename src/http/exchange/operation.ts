import type { Action } from '../../auth/rights.ts';
import type { ErrorCode } from '../../core/app-error.ts';
import type { JsonSchema, ParameterTable } from './parameters.ts';

export interface Body {
  readonly description: string;
  /** By media type. */
  readonly content: Readonly<Record<string, JsonSchema>>;
}

/** What a method of a route takes and gives, as the OpenAPI document tells it. */
export interface Operation {
  /** Who may: the right that it takes. `open`: anybody. `known`: anybody, but those who are known see more. */
  readonly access: Action | 'open' | 'known';
  readonly summary: string;
  readonly description?: string;
  /** What validates the query string. */
  readonly parameters: ParameterTable;
  /** Headers of its own. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  /** By the name in the route's path. */
  readonly segments?: ParameterTable;
  readonly requestBody?: Body & { readonly required: boolean };
  /** By status. */
  readonly responses: Readonly<Record<number, Body>>;
  readonly errors: readonly ErrorCode[];
  /** Of their bodies, where they do not have the one shape. */
  readonly errorSchema?: JsonSchema;
}
