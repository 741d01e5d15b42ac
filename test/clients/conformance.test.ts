import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { conformanceCases, difference } from './support/conformance.ts';
import { HttpOperations, HttpRefusal } from './support/http-operations.ts';

/** The clients run the same cases: `clients/README.md` describes them. */
describe('bare HTTP requests', () => {
  let server: Framehold;
  beforeAll(async () => {
    server = await startFramehold();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(conformanceCases('http_'))('conform: $name', async ({ steps }) => {
    const operations = new HttpOperations(server.url);
    for (const { op, args, answer, error } of steps) {
      const step = `${op} ${JSON.stringify(args)}`;
      try {
        const actual = await operations.run(op, args);
        expect(error, `${step} is not refused, and answers ${JSON.stringify(actual)}`).toBeUndefined();
        expect(difference(answer, actual), step).toBeUndefined();
      } catch (failure) {
        if (!(failure instanceof HttpRefusal)) throw failure;
        const { code, status, position } = failure;
        expect({ code, status, position }, `${step}: ${failure.message}`).toMatchObject(error ?? {});
        expect(error, `${step}: ${failure.message}`).toBeDefined();
      }
    }
  });
});
