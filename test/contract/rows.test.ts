import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EventSource } from '../support/event-source.ts';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { type Answer, ask } from '../support/http-client.ts';
import { soon } from '../support/soon.ts';

let server: Framehold;

beforeAll(async () => {
  server = await startFramehold({ settings: { 'server.progress_interval': '200ms', 'http.max_limit': '2000' } });
});

afterAll(() => server[Symbol.asyncDispose]());

const at = (path: string, headers = {}): Promise<Answer> => ask(`${server.url}${path}`, { headers });

async function put(handle: string, rows: readonly number[], mode = ''): Promise<void> {
  const body = `n,square\n${rows.map((n) => `${n},${n * n}`).join('\n')}\n`;
  const answer = await ask(`${server.url}/imp?name=${handle}&fmt=json${mode}`, { method: 'POST', body });
  expect(answer.status, answer.text).toBe(200);
}

const append = (handle: string, rows: readonly number[]): Promise<void> => put(handle, rows, '&append=true');
const numbers = (answer: Answer): number[] =>
  answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).n);
const position = ({ headers }: Pick<Answer, 'headers'>) => [headers['next-row'], headers['up-to-date']];

test('pages of rows tell where the next one begins, and the last one that it is the last', async () => {
  await put('paged', [0, 1, 2, 3, 4]);
  const first = await at('/handles/paged/rows?limit=3');
  expect([first.status, numbers(first), position(first)]).toEqual([200, [0, 1, 2], ['3', 'false']]);
  expect(first.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  const last = await at('/handles/paged/rows?limit=3&from=3');
  expect([numbers(last), position(last), last.headers.lineage]).toEqual([[3, 4], ['5', 'true'], first.headers.lineage]);
  const beyond = await at('/handles/paged/rows?from=9');
  expect([beyond.status, beyond.text, position(beyond)]).toEqual([200, '', ['9', 'true']]);
  const head = await ask(`${server.url}/handles/paged/rows?limit=2&live=long-poll`, { method: 'HEAD' });
  expect([head.status, head.text, position(head)]).toEqual([200, '', ['2', 'false']]);
});

test('a limit beyond http.max_limit gives as many rows as that', async () => {
  await put(
    'capped',
    Array.from({ length: 2500 }, (_, n) => n),
  );
  for (const limit of ['2001', '1000000']) {
    expect(position(await at(`/handles/capped/rows?limit=${limit}`))).toEqual(['2000', 'false']);
  }
  expect(position(await at('/handles/capped/rows'))).toEqual(['2000', 'false']);
});

test('every format holds the chosen columns, also where there are no rows', async () => {
  await put('formats', [2, 3]);
  const json = (await at('/handles/formats/rows?fmt=json&columns=square')).json();
  expect(json).toMatchObject({ columns: [{ name: 'square' }], dataset: [[4], [9]], count: 2 });
  const arrow = await at('/handles/formats/rows?fmt=arrow&columns=square,n&from=1');
  expect(tableFromIPC(arrow.body).toArray().map(String)).toEqual(['{"square": 9, "n": 3}']);
  const none = await at('/handles/formats/rows?fmt=arrow&columns=square&from=2');
  const { schema, numRows } = tableFromIPC(none.body);
  expect([schema.names, numRows]).toEqual([['square'], 0]);
  expect((await at('/handles/formats/rows?fmt=csv&nm=true')).text).toBe('2,4\r\n3,9\r\n');
});

test('a long poll answers with rows that come, and 204 where none do', async () => {
  await put('polled', [0]);
  const late = await at('/handles/polled/rows?from=1&live=long-poll&wait=0s');
  expect([late.status, late.text, position(late)]).toEqual([204, '', ['1', 'true']]);
  const waiting = at('/handles/polled/rows?from=1&live=long-poll&wait=60s');
  await append('polled', [1, 2]);
  const answer = await waiting;
  expect([answer.status, numbers(answer), position(answer)]).toEqual([200, [1, 2], ['3', 'true']]);
  const ahead = at('/handles/polled/rows?from=4&live=long-poll&wait=60s');
  await append('polled', [3, 4, 5]);
  expect(numbers(await ahead)).toEqual([4, 5]);
});

test('a frame that was replaced or dropped is 410 for those who name its lineage', async () => {
  await put('replaced', [0, 1]);
  const { lineage } = (await at('/handles/replaced/rows')).headers;
  await append('replaced', [2]);
  expect(numbers(await at(`/handles/replaced/rows?from=2&lineage=${lineage}`))).toEqual([2]);
  await put('replaced', [7, 8, 9, 10], '&overwrite=true');
  const before = await at(`/handles/replaced/rows?from=3&lineage=${lineage}`);
  expect([before.status, before.json().code]).toEqual([410, 'handle_gone']);
  await ask(`${server.url}/handles/replaced`, { method: 'DELETE' });
  expect((await at(`/handles/replaced/rows?lineage=${lineage}`)).status).toBe(410);
});

test('events hold rows with the number of the next one, and tell of progress where none come', async () => {
  await put('events', [0, 1]);
  using source = await EventSource.open(`${server.url}/handles/events/rows?live=sse&columns=n`);
  expect([source.status, source.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  await soon(() => expect(source.rows).toEqual(['{"n":0}', '{"n":1}']));
  expect(source.of('message').at(-1)?.id).toBe('2');
  await append('events', [2]);
  await soon(() => expect(source.rows).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']));
  const marks = source.of('progress').length;
  await soon(() => expect(source.of('progress').length).toBeGreaterThan(marks + 1));
  const { lineage } = source.headers;
  expect(JSON.parse(source.of('progress').at(-1)?.data ?? '')).toEqual({ next: 3, upToDate: true, lineage });
});

test('a client that comes back with Last-Event-ID goes on there', async () => {
  await put('resumed', [0, 1, 2]);
  const url = `${server.url}/handles/resumed/rows?live=sse&fmt=json&from=0`;
  using source = await EventSource.open(url, { 'last-event-id': '2' });
  await soon(() => expect(source.rows.map((row) => JSON.parse(row).dataset)).toEqual([[[2, 4]]]));
  expect((await at('/handles/resumed/rows?live=sse', { 'last-event-id': 'x' })).status).toBe(400);
});

test.each([
  ['an overwrite', () => put('ended', [5], '&overwrite=true')],
  ['a drop', () => ask(`${server.url}/handles/ended`, { method: 'DELETE' })],
])('events end with %s', async (_what, change) => {
  await put('ended', [0], '&overwrite=true');
  using source = await EventSource.open(`${server.url}/handles/ended/rows?live=sse`);
  await soon(() => expect(source.rows).toHaveLength(1));
  await change();
  await soon(() => expect(source.hasEnded).toBe(true));
  expect(JSON.parse(source.of('end')[0]?.data ?? '')).toMatchObject({ code: 'handle_gone' });
});

test.each([
  ['fmt=arrow&live=sse', 'unsupported_format'],
  ['from=-1', 'invalid_parameter'],
  ['live=yes', 'invalid_parameter'],
  ['wait=11m', 'invalid_parameter'],
  ['columns=nothing', 'invalid_parameter'],
  ['columns=nothing&live=sse', 'invalid_parameter'],
  ['limit=0', 'invalid_parameter'],
])('%s is refused as %s', async (query, code) => {
  await put('refused', [0], '&overwrite=true');
  const answer = await at(`/handles/refused/rows?${query}`);
  expect([answer.status, answer.json().code]).toEqual([400, code]);
});

test('a predicate leaves out rows, and the numbers of rows stay those of the frame', async () => {
  await put('filtered', [0, 1, 2, 3, 4, 5]);
  const where = (text: string): string => `where=${encodeURIComponent(text)}`;
  const odd = await at(`/handles/filtered/rows?limit=4&${where('filtered.n % 2 = 1 and square < 20')}`);
  expect([odd.status, numbers(odd), position(odd)]).toEqual([200, [1, 3], ['4', 'false']]);
  const json = (await at(`/handles/filtered/rows?fmt=json&from=2&columns=square&${where('n in (1, 4)')}`)).json();
  expect(json).toMatchObject({ columns: [{ name: 'square' }], dataset: [[16]] });
  const waiting = at(`/handles/filtered/rows?from=6&live=long-poll&wait=60s&${where('n >= 8')}`);
  using source = await EventSource.open(`${server.url}/handles/filtered/rows?live=sse&columns=n&${where('n >= 5')}`);
  await append('filtered', [6, 7]);
  await append('filtered', [8, 1, 9]);
  expect(numbers(await waiting)).toEqual([8, 9]);
  await soon(() => expect(source.rows.map((row) => JSON.parse(row).n)).toEqual([5, 6, 7, 8, 9]));
  const none = await at(`/handles/filtered/rows?from=6&live=long-poll&wait=0s&${where('n > 100')}`);
  expect([none.status, position(none)]).toEqual([204, ['11', 'true']]);
});

test.each([
  ['n > (select 1)', 403],
  ['n in (from refused)', 403],
  ["n in (from 'file.parquet')", 403],
  ['1 = 1) or (1 = 1', 403],
  ['1 = 1) order by (n', 403],
  ['n in (from analytics."#rows")', 403],
  ['1 = 1 --', 403],
  [') union select (1', 403],
  ['n = ?', 403],
  ['', 403],
  ['nothing > 1', 400],
  ['sum(n) > 1', 403],
  ['row_number() over () > 1', 403],
  ["read_text('/etc/passwd') = ''", 403],
])('the predicate %s is answered %i', async (text, status) => {
  await put('refused', [0], '&overwrite=true');
  const answer = await at(`/handles/refused/rows?where=${encodeURIComponent(text)}`);
  expect([answer.status, answer.text]).toEqual([status, expect.not.stringContaining('#rows')]);
});
