import { type ErrorCode, errorCodes } from '../../core/errors/app-error.ts';
import { httpStatus } from '../exchange/error-response.ts';
import type { Body, Operation } from '../exchange/operation.ts';
import type { JsonSchema, Parameter, ParameterTable } from '../exchange/parameters.ts';
import type { HttpMethod, Route } from '../exchange/route.ts';

/** Any request may meet them. */
const commonErrors: readonly ErrorCode[] = ['wrong_host', 'overloaded', 'internal'];

const errorSchema: JsonSchema = {
  type: 'object',
  description: 'The one shape of errors.',
  properties: {
    query: { type: 'string', description: 'What was asked: the statement, or `handle:<handle>`.' },
    error: { type: 'string', description: 'What is wrong, with which value.' },
    code: { type: 'string', enum: errorCodes, description: 'Stays the same when the wording changes.' },
    hint: { type: 'string', description: 'What to do about it.' },
    position: { type: 'integer', description: 'Where in the statement, or in a body that is not JSON, from 0.' },
  },
  required: ['error', 'code'],
};

/** The routes as an OpenAPI 3.1 document, made of the same tables that read their requests. */
export function openApiDocument(routes: readonly Route[], { version }: { readonly version: string }): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Framehold',
      version,
      summary: 'Tables under handles: put, read, queried and exported.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    paths: Object.fromEntries(routes.map((route) => [route.path, pathItem(route)])),
    components: {
      schemas: { Error: errorSchema },
      responses: { Error: { description: 'Any other error.', content: { 'application/json': { schema: errorRef } } } },
    },
  };
}

const errorRef: JsonSchema = { $ref: '#/components/schemas/Error' };

function pathItem({ path, methods, operations }: Route): object {
  const entries = methods.flatMap((method) => {
    const operation = operations[method] ?? (method === 'HEAD' ? headOf(operations.GET) : undefined);
    return operation === undefined ? [] : [[method.toLowerCase(), operationObject(path, method, operation)]];
  });
  return Object.fromEntries(entries);
}

/** HEAD answers as GET does, without a body. */
function headOf(operation: Operation | undefined): Operation | undefined {
  if (operation === undefined) return undefined;
  const bodiless = ([status, { description }]: [string, Body]): [string, Body] => [
    status,
    { description, content: {} },
  ];
  return {
    ...operation,
    summary: `The headers of: ${operation.summary}`,
    responses: Object.fromEntries(Object.entries(operation.responses).map(bodiless)),
  };
}

function operationObject(path: string, method: HttpMethod, operation: Operation): object {
  const { summary, description, requestBody, segments = {}, headers = {} } = operation;
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-z]+(?=[a-z])/gi, '_').replaceAll(/\W/g, '')}`,
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...Object.entries(segments).map(([name, parameter]) => ({
        ...named(name, parameter),
        in: 'path',
        required: true,
      })),
      ...queryParameters(operation.parameters),
      ...Object.entries(headers).map(([name, header]) => ({ ...named(name, header), in: 'header' })),
    ],
    ...(requestBody !== undefined && {
      requestBody: { required: requestBody.required, ...bodyObject(requestBody) },
    }),
    responses: {
      ...successes(operation),
      ...failures(operation, method),
      default: defaultError(operation),
    },
  };
}

function defaultError({ errorSchema: ownShape }: Operation): object {
  if (ownShape === undefined) return { $ref: '#/components/responses/Error' };
  return bodyObject({ description: 'Any other error.', content: { 'application/json': ownShape } });
}

function named(name: string, { description, schema }: { description: string; schema: JsonSchema }): object {
  return { name, description, schema };
}

function queryParameters(table: ParameterTable): object[] {
  return Object.entries(table).map(([name, parameter]) => ({
    ...named(name, parameter),
    in: 'query',
    ...(isRequired(name, parameter) && { required: true }),
  }));
}

function isRequired(name: string, parameter: Parameter<unknown>): boolean {
  try {
    parameter.parse(undefined, name);
    return false;
  } catch {
    return true;
  }
}

function bodyObject({ description, content }: Body): object {
  const schemas = Object.entries(content).map(([mediaType, schema]) => [mediaType, { schema }]);
  return { description, ...(schemas.length > 0 && { content: Object.fromEntries(schemas) }) };
}

function successes({ responses }: Operation): object {
  return Object.fromEntries(Object.entries(responses).map(([status, body]) => [status, bodyObject(body)]));
}

/** A response for each status, with the codes that it may carry. */
function failures({ errors, errorSchema: ownShape }: Operation, method: HttpMethod): object {
  const codes = new Map<number, ErrorCode[]>();
  for (const code of new Set([...errors, ...commonErrors])) {
    const status = httpStatus[code];
    codes.set(status, [...(codes.get(status) ?? []), code]);
  }
  const entries = [...codes].map(([status, among]) => {
    const schema = ownShape ?? { allOf: [errorRef, { type: 'object', properties: { code: { enum: among } } }] };
    const description = `${among.map((code) => `\`${code}\``).join(', ')}.`;
    return [status, bodyObject({ description, content: method === 'HEAD' ? {} : { 'application/json': schema } })];
  });
  return Object.fromEntries(entries);
}
