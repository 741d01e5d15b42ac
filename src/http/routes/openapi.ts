import { jsonContentType } from '../exchange/error-response.ts';
import { readParameters } from '../exchange/parameters.ts';
import { parseQueryString } from '../exchange/query-string.ts';
import type { Route } from '../exchange/route.ts';
import { openApiDocument } from '../openapi/openapi.ts';

/** Serves the description of all routes, itself included. */
export function openApiRoute(others: readonly Route[], about: { readonly version: string }): Route {
  let body = Buffer.alloc(0);
  const route: Route = {
    path: '/openapi.json',
    methods: ['GET', 'HEAD'],
    operations: {
      GET: {
        summary: 'This document',
        parameters: {},
        responses: {
          200: { description: 'OpenAPI 3.1.', content: { 'application/json': { type: 'object' } } },
        },
        errors: ['invalid_parameter'],
      },
    },
    handle({ request, response, headers, target }) {
      readParameters({}, parseQueryString(target));
      headers.push('content-type', jsonContentType, 'cache-control', 'no-cache');
      headers.push('content-length', String(body.length));
      response.writeHead(200, headers);
      response.end(request.method === 'HEAD' ? undefined : body);
    },
  };
  body = Buffer.from(JSON.stringify(openApiDocument([...others, route], about)));
  return route;
}
