import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { arrowMessages, arrowStream } from '../support/arbitrary-arrow.ts';
import { tableInCsv, tableInJson } from '../support/arbitrary-table.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { ask } from '../support/http-client.ts';
import { importRaw } from '../support/import-client.ts';

let server: Framehold;
beforeAll(async () => {
  server = await startFramehold();
});
afterAll(() => server[Symbol.asyncDispose]());

let frames = 0;

async function exported(handle: string, format: string): Promise<Buffer> {
  const answer = await ask(`${server.url}/exp?handle=${handle}&fmt=${format}`);
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  return answer.body;
}

/** Appends a text as it is, and with a byte order mark, with which it is no small append. */
async function appendedTwice(rows: Uint8Array, text: Uint8Array, format: string): Promise<void> {
  const outcomes = [];
  for (const body of [text, Buffer.concat([Buffer.from('\ufeff'), text])]) {
    const handle = `frame${++frames}`;
    expect((await importRaw(server, `name=${handle}`, rows)).status).toBe(200);
    const { status, text: said } = await importRaw(server, `name=${handle}&append=true&format=${format}`, body);
    const { rowsImported, header, delimiter, columns, code, error } = JSON.parse(said);
    const answer = { status, rowsImported, header, delimiter, columns, code, error };
    outcomes.push([{ ...answer, rows: (await exported(handle, 'ndjson')).toString() }]);
  }
  expect(outcomes[0]).toEqual(outcomes[1]);
}

test.each([
  ['csv', tableInCsv],
  ['ndjson', tableInJson],
] as const)(
  'the rows of any frame, exported as %s, are appended or refused alike with and without the engine',
  async (format, tables) => {
    const property = fc.asyncProperty(tables, async ({ columns, rows }) => {
      const stream = arrowStream(arrowMessages(columns, rows));
      const handle = `frame${++frames}`;
      fc.pre((await importRaw(server, `name=${handle}`, stream)).status === 200);
      const text = await exported(handle, format);
      fc.pre(text.length > 0);
      await appendedTwice(stream, text, format);
    });
    await fc.assert(property, { numRuns: 6 });
  },
);
