import { ask } from '../../support/http-client.ts';
import { spawnFramehold } from '../../support/spawned-framehold.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { promised, type Scenario, type Trial } from '../harness/scenario.ts';
import { checkAnswer } from './answer-promises.ts';
import { readHandle } from './good-traffic.ts';

/** None of them is a number of rows, a range of them, a duration, a flag, a handle or a word that is known. */
const neverRight = [
  '-1',
  '-0',
  '+1',
  '1e309',
  '1e3',
  'NaN',
  'Infinity',
  '-Infinity',
  '0x10',
  '1.5',
  ' 1',
  '1 ',
  '1_000',
  '٣',
  '１',
  '99999999999999999999',
  '9007199254740993',
  '18446744073709551616',
  '1,2,3',
  ',',
  ',5',
  '5,1',
  '0,0',
  '-5,-1',
  '1;2',
  'true false',
  'null',
  'undefined',
  '[object Object]',
  '\0',
  '\r\nX-Injected: 1',
  '%00',
  '../../etc/passwd',
  '..\\..',
  "';drop table target;--",
  '$(id)',
  '{{7*7}}',
  '\u2028',
  '\ud83d\ude00',
  '\u202e',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'a'.repeat(129),
  'z'.repeat(5000),
  '"',
  "'",
  '"a',
  'a"b',
  '[',
  '{}',
  '[{"name":1}]',
] as const;

/** As they stand in the target: decoding them fails, or gives something else than it seems. */
const rawValues = ['%', '%2', '%zz', '%ff', '%c0%80', '%ed%a0%80', '%00', '+', '%2B1', '=', '=='] as const;

/** What is asked beside the parameter, such that it is looked at. */
const beginnings: Readonly<Record<string, readonly string[]>> = {
  '/exec': [`handle=${readHandle}&fmt=json`, 'query=select+1&engine=local&fmt=json'],
  '/exp': [`handle=${readHandle}`, 'query=select+1&engine=local'],
  '/imp': ['name=imported&overwrite=true'],
};

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly isSegment: boolean }[];
}

interface Case {
  readonly method: string;
  readonly target: string;
  /** Refused by what is documented, whatever else holds. */
  readonly isNeverRight: boolean;
}

/** I6: every parameter of every route, as the OpenAPI document lists them, with values that nobody means well by. */
export const hostileParameters: Scenario = {
  id: 'I6',
  promise: 'every parameter of every route refuses hostile values with a documented 4xx',
  rounds: { ci: 150, release: 20_000 },
  secondsPerRound: 0.03,
  async run({ rounds, random }: Trial) {
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({ dataDir: directory.path });
    const put = await ask(`${server.url}/imp?name=${readHandle}`, { method: 'POST', body: 'a,b\n1,2\n' });
    promised(put.status === 200, 'the frame can be put', put.text);
    const operations = await operationsOf(server.url);
    const cases = shuffled(operations.flatMap(casesOf), () => random.next());
    const sure = cases.filter(({ isNeverRight }) => isNeverRight);
    const chosen = [...limitCases, ...sure.slice(0, rounds / 3), ...cases.slice(0, rounds)];
    const requests = chosen.length;
    let refused = 0;
    const clients = Array.from({ length: 8 }, async () => {
      for (let next = chosen.pop(); next !== undefined; next = chosen.pop()) {
        if ((await statusOf(server.url, next, directory.path)) >= 400) refused++;
      }
    });
    await Promise.all(clients);
    const held = await ask(`${server.url}/exec?handle=${readHandle}&fmt=json`);
    promised(held.status === 200 && held.json().count === 1, 'the frame is as it was', held.text);
    const parameters = operations.map((operation) => operation.parameters.length).reduce((sum, each) => sum + each, 0);
    promised(parameters > 50 && cases.length > 200, 'the document lists the parameters', { parameters });
    return { requests, refused, parameters, '5xx': 0 };
  },
};

const limitCases: readonly Case[] = ['/exec?fmt=json&', '/exp?'].flatMap((route) =>
  [
    '-1',
    '1e309',
    'NaN',
    'Infinity',
    '1.5',
    '',
    '%20',
    '5,1',
    '1,2,3',
    '%2B1',
    '0x1',
    '%00',
    '-1,',
    ',-1',
    '1e1',
    'null',
    '9'.repeat(400),
    '1&limit=1',
    '1&limit=2',
    '%ff',
  ].map((limit) => ({ method: 'GET', target: `${route}handle=${readHandle}&limit=${limit}`, isNeverRight: true })),
);

async function statusOf(url: string, { method, target, isNeverRight }: Case, dataDir: string): Promise<number> {
  const content = target.startsWith('/sql') ? '{"sql":"select 1"}' : 'a\n1\n';
  const answer = await ask(`${url}${target}`, { method, body: method === 'POST' || method === 'PUT' ? content : '' });
  const headers = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  try {
    promised(!headers.has('x-injected'), 'no value becomes a header');
    checkAnswer({ status: answer.status, headers, body: answer.body, isWhole: true }, { dataDir });
    promised(!isNeverRight || answer.status === 400, 'such a value is refused with 400', answer.status);
    return answer.status;
  } catch (error) {
    throw new Error(`${method} ${target.slice(0, 300)}: ${(error as Error).message}`, { cause: error });
  }
}

async function operationsOf(url: string): Promise<Operation[]> {
  const document = (await ask(`${url}/openapi.json`)).json() as {
    paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      parameters: parameters.map(({ name, in: place }) => ({ name, isSegment: place === 'path' })),
    })),
  );
}

function casesOf({ method, path, parameters }: Operation): Case[] {
  const place = path.replace(/\{\w+\}/, method === 'DELETE' ? 'nosuch' : readHandle);
  return (beginnings[path] ?? ['']).flatMap((beginning) =>
    [...parameters, { name: 'nosuch', isSegment: false }].flatMap(({ name, isSegment }) => {
      const given = new URLSearchParams(beginning).has(name);
      const others = beginning.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${name}=`));
      const query = (pair: string): string => `${place}?${[...others, pair].join('&')}`;
      const segment = (value: string): string => path.replace(/\{\w+\}/, value);
      const target = (value: string): string => (isSegment ? segment(value) : query(`${name}=${value}`));
      const plain = [...neverRight.map(encodeURIComponent), ...rawValues].map((value) => ({
        method,
        target: target(value),
        isNeverRight: false,
      }));
      if (isSegment) return plain;
      const twice = { method, target: query(`${name}=1&${name}=1`), isNeverRight: !given && parameters.length > 0 };
      return [...plain, twice, { method, target: query(name), isNeverRight: false }];
    }),
  );
}

function shuffled<T>(items: readonly T[], next: () => number): T[] {
  return items
    .map((item) => ({ item, key: next() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
}
