import fc from 'fast-check';
import { anyValue, heldHandles, statements, valueFor } from './arbitrary-parameters.ts';
import { text } from './arbitrary-values.ts';

export interface ArbitraryRequest {
  readonly method: string;
  /** Path and query string. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Not decodable, or differently by different readers. */
const brokenCodings = [
  '%',
  '%2',
  '%zz',
  '%FF',
  '%E2%82',
  '%C0%80',
  '%ED%A0%80',
  '+',
  '%2B',
  '=',
  '==',
  '%26',
  ';',
  '[]',
  '?',
  '#',
];

const encoded = fc.oneof(
  { weight: 8, arbitrary: anyValue.map(encodeURIComponent) },
  { weight: 1, arbitrary: fc.constantFrom(...brokenCodings) },
);

/** Parameters that make the rest of a query string matter. */
const beginnings: Readonly<Record<string, readonly string[]>> = {
  '/exec': [
    'handle=nums&fmt=json',
    'handle=texts&fmt=json',
    ...statements.map((sql) => `query=${sql}&engine=local&fmt=json`),
  ],
  '/exp': ['handle=nums', 'handle=texts&fmt=json', ...statements.map((sql) => `query=${sql}&engine=local`)],
  '/imp': ['name=nums&overwrite=true', 'name=nums&append=true', 'name=made'],
};

/** A query string of these parameters, seldom of others, or of one more than once. */
function queryOf(path: string, names: readonly string[]): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...names, ...(names.length === 0 ? ['nosuch'] : [])) },
    { weight: 1, arbitrary: encoded },
    { weight: 1, arbitrary: fc.constantFrom('NM', 'Limit', 'nosuch') },
  );
  const valued = name.chain((key) =>
    fc.oneof(
      { weight: 20, arbitrary: valueFor(key).map((given) => `${key}=${encodeURIComponent(given)}`) },
      { weight: 1, arbitrary: encoded.map((given) => `${key}=${given}`) },
      { weight: 1, arbitrary: fc.constantFrom(key, '', '&', '=', '?') },
    ),
  );
  const [first = '', ...others] = (beginnings[path] ?? []).map((text) => encodeURI(text));
  const beginning = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(first, ...others) }, fc.constant(''));
  return fc
    .tuple(beginning, fc.array(valued, { maxLength: 3 }))
    .map(([begin, pairs]) => [begin, ...pairs].filter(Boolean).join('&'));
}

/** Changes some characters, or puts others between them. */
function mutated(target: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(...brokenCodings, '/', '//', '..', '.', '&'),
    fc.string({ unit: 'grapheme-ascii' }),
  );
  const change = fc.tuple(fc.nat(200), fc.nat(3), piece);
  return fc.tuple(target, fc.array(change, { maxLength: 3 })).map(([from, changes]) =>
    changes.reduce((now, [at, gone, put]) => {
      const place = 1 + (at % now.length);
      return now.slice(0, place) + put.replaceAll(/[^!-~]/g, '%20') + now.slice(place + gone);
    }, from),
  );
}

const segment = fc.oneof(fc.constantFrom<string>(...heldHandles, 'nosuch', 'made'), encoded);

const readHeaders = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { 'if-none-match': '*' },
      { 'if-none-match': '"1"' },
      { 'if-match': '"1", x' },
      { range: 'bytes=0-3' },
      { range: 'bytes=9-1' },
      { range: 'bytes=-0' },
      { 'accept-encoding': 'br;q=1, gzip;q=nonsense' },
    ),
  },
);

export interface Operation {
  readonly method: string;
  /** `{name}` stands for any segment. */
  readonly path: string;
  /** Of the query string. */
  readonly names: readonly string[];
}

/** A request without a body, mostly by the method that is offered. */
export function plainRequest(operations: readonly Operation[]): fc.Arbitrary<ArbitraryRequest> {
  return fc.constantFrom(...operations).chain(({ method, path, names }) => {
    const place = path.includes('{') ? segment.map((name) => path.replace(/\{\w+\}/, name)) : fc.constant(path);
    const target = fc.tuple(place, queryOf(path, names)).map((parts) => parts.join('?'));
    return fc.record({
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constant(method) },
        fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'PATCH'),
      ),
      target: fc.oneof({ weight: 3, arbitrary: target }, { weight: 1, arbitrary: mutated(target) }),
      headers: readHeaders,
    });
  });
}

const files: readonly (string | Uint8Array)[] = [
  ...[
    '',
    'a,b\n1,2\n3,4\n',
    'a,b\n1\n',
    'a\n"1',
    '{"a":1}\n{"a":"x"}',
    '[{"a":1}]',
    '[',
    '{"a":[1,{"b":null}]}',
    'a\0b\n1\n',
  ],
  ...['ARROW1\0\0', 'PAR1PAR1', '\ufeffa,b\r\n1,2', '--x\r\n\r\n\r\n--x--', 'null', '\n\n'],
  '--x\r\ncontent-disposition: form-data; name="data"; filename="a.csv"\r\n\r\na,b\n1,2\n\r\n--x--\r\n',
  '--x\r\ncontent-disposition: form-data; name="schema"\r\n\r\n[{"name":"a","type":"INT"}]\r\n--x--',
  Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0),
  Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0),
  Uint8Array.of(0x1f, 0x8b, 8, 0),
];

const uploadHeaders = fc.constantFrom<Record<string, string>>(
  {},
  {},
  { 'content-type': 'text/csv' },
  { 'content-type': 'application/json' },
  { 'content-type': 'application/vnd.apache.arrow.stream' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': 'no/such; charset="' },
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'zstd' },
  { 'content-encoding': 'x' },
);

/** An upload with these parameters. */
export function uploadRequest(path: string, names: readonly string[]): fc.Arbitrary<ArbitraryRequest> {
  return fc.record({
    method: fc.constantFrom('POST', 'POST', 'PUT'),
    target: queryOf(path, names).map((query) => `${path}?${query}`),
    headers: uploadHeaders,
    body: fc.oneof(
      fc.constantFrom(...files),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Uint8Array.from(bytes)),
    ),
  });
}

const jsonValue = fc.oneof(
  { weight: 2, arbitrary: anyValue },
  { weight: 2, arbitrary: fc.constantFrom(null, true, 0, -1, 1.5, 1e300, [], {}, ['a'], [1, null]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ type: 'DATE', value: 'x' }, { type: 'NOSUCH', value: 1 }, { type: 'BLOB' }),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);

/** Some of the keys, with values that they take or nearly so. */
function objectOf(keys: readonly string[]): fc.Arbitrary<object> {
  const entry = fc
    .oneof({ weight: 20, arbitrary: fc.constantFrom(...keys) }, { weight: 1, arbitrary: text })
    .chain((key) => {
      const near = valueFor(key).map(
        (given) => (/^(?:true|false|0|[1-9]\d*)$/.test(given) ? JSON.parse(given) : given) as unknown,
      );
      return fc.tuple(fc.constant(key), fc.oneof({ weight: 6, arbitrary: near }, { weight: 1, arbitrary: jsonValue }));
    });
  return fc.array(entry, { maxLength: 2 }).map((entries) => Object.fromEntries(entries));
}

/** A JSON object with these keys, or nearly one. */
export function jsonRequest(path: string, keys: readonly string[]): fc.Arbitrary<ArbitraryRequest> {
  const params = fc.oneof(
    fc.array(jsonValue, { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', '1', 't'), jsonValue),
  );
  const statement = fc.record(
    { sql: fc.constantFrom(...statements), params, keep: objectOf(['handle', 'ttl', 'mode']) },
    { requiredKeys: ['sql'] },
  );
  const others = objectOf(keys.filter((key) => !['sql', 'params', 'keep'].includes(key)));
  const object = fc.tuple(statement, others).map((parts) => JSON.stringify(Object.assign({}, ...parts)));
  const body = fc.oneof(
    { weight: 8, arbitrary: object },
    { weight: 1, arbitrary: fc.tuple(object, fc.nat(), fc.constantFrom('', '{', '"', '\\u00', '\0')).map(spliced) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', '[]', '1', '{"sql":"select 1","sql":2}', '\ufeff{"sql":"select 1"}', '[[['),
    },
  );
  const headers = fc.oneof(
    { weight: 8, arbitrary: fc.constant({}) },
    fc.constantFrom({ 'content-type': 'text/plain' }, { 'content-encoding': 'br' }),
  );
  return fc.record({ method: fc.constant('POST'), target: fc.constant(path), headers, body });
}

function spliced([json, at, put]: [string, number, string]): string {
  const place = at % json.length;
  return json.slice(0, place) + put + json.slice(place + 1);
}
