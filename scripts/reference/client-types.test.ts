import { expect, it } from 'vitest';
import { clientTypes, type TypedDocument } from './client-types.ts';

const document: TypedDocument = {
  paths: {
    '/handles/{handle}': {
      get: {
        summary: 'One frame',
        parameters: [
          { name: 'handle', in: 'path', required: true, description: 'Its name.', schema: { type: 'string' } },
          { name: 'deep', in: 'query', schema: { type: 'boolean' } },
        ],
        responses: {
          '200': {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    rows: { type: ['integer', 'null'], description: 'How many. */ none' },
                    kind: { enum: ['frame', 'view'] },
                    tags: { type: 'array', items: { enum: ['a', 'b'] } },
                  },
                  required: ['rows'],
                },
              },
            },
          },
        },
      },
      head: { summary: 'Its headers', responses: {} },
    },
    '/ping': {
      get: { summary: 'Runs', responses: { '200': { content: { 'text/plain': { schema: { type: 'string' } } } } } },
    },
  },
  components: { schemas: { Error: { properties: { code: { enum: ['not_found', 'internal'] } } } } },
};

it('the types of the client tell what the document tells of operations in JSON, and of codes', () => {
  const module = clientTypes(document);
  expect(module).toContain("  | 'not_found'\n  | 'internal';");
  expect(module).toContain("readonly 'GET /handles/{handle}': {");
  expect(module).toContain('readonly deep?: boolean | undefined;');
  expect(module).toContain('/** How many. * / none */\n      readonly rows: number | null;');
  expect(module).toContain("readonly tags?: readonly ('a' | 'b')[] | undefined;");
  expect(module).not.toContain('/ping');
  expect(module).not.toContain('HEAD');
});
