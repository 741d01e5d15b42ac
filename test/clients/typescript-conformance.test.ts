import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect as connectByFetch } from '#client/index.ts';
import { type Connection, connect, FrameholdError } from '#client/node.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ClientOperations } from './support/client-operations.ts';
import { conformanceCases, difference, type Json } from './support/conformance.ts';

describe.each([
  ['over fetch', 'fetch_', (url: string): Connection => connectByFetch(url)],
  ['in Node', 'node_', (url: string): Connection => connect(url)],
])('the client for TypeScript %s', (_, prefix, open) => {
  let server: Framehold;
  beforeAll(async () => {
    server = await startFramehold();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(conformanceCases(prefix))('conforms: $name', async ({ steps }) => {
    const db = open(server.url);
    const operations = new ClientOperations(db);
    for (const { op, args, answer, error } of steps) {
      const step = `${op} ${JSON.stringify(args)}`;
      try {
        const actual = (await operations.run(op, args)) as Json;
        expect(error, `${step} is not refused`).toBeUndefined();
        expect(difference(answer, actual), step).toBeUndefined();
      } catch (failure) {
        if (!(failure instanceof FrameholdError)) throw failure;
        expect(error, `${step}: ${failure.message}`).toBeDefined();
        const { code, status, position } = failure;
        expect({ code, status, position }, `${step}: ${failure.message}`).toMatchObject(error ?? {});
      }
    }
    db.close();
  });
});
