import { gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { ask } from '../../support/http-client.ts';
import { promised } from '../harness/scenario.ts';
import { say } from './conversation.ts';
import { parseAnswers } from './parsed-answers.ts';
import { seenRequests } from './strict-requests.ts';

export interface GoodRequest {
  readonly route: string;
  readonly bytes: Buffer;
  /** A put costs the server a hundred times what a refusal does, so it is drawn less often. */
  readonly isDear: boolean;
}

/** What is read, renewed and dropped; nothing in the traffic names any other frame. */
export const readHandle = 'target';

const csv = 'id,price,day\n1,1.5,2026-01-31\n2,2.5,2026-02-01\n';

/** `id,price\n1,1.5\n` in a zstd frame with one block that is not compressed. */
const zstdCsv = zstdStored(Buffer.from('id,price\n1,1.5\n'));

function zstdStored(bytes: Buffer): Buffer {
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from('28b52ffd0058', 'hex'), block, bytes]);
}

/** Requests of every route, each answered as it should be before it counts as good. */
export async function recordGoodTraffic(url: string): Promise<GoodRequest[]> {
  const put = await ask(`${url}/imp?name=${readHandle}`, { method: 'POST', body: csv });
  promised(put.status === 200, 'the frame that is read can be put', put.text);
  const parquet = (await ask(`${url}/exp?handle=${readHandle}&fmt=parquet`)).body;
  const requests = [...reads(), ...puts(parquet), ...statements(), ...changes()];
  const cheap = requests.filter(({ isDear }) => !isDear).map(({ bytes }) => bytes);
  const all = [...requests, { route: 'pipelined', bytes: Buffer.concat(cheap), isDear: false }];
  for (const { route, bytes } of all) await checkGood(url, route, bytes);
  return all;
}

async function checkGood(url: string, route: string, bytes: Buffer): Promise<void> {
  const { whole, rest } = seenRequests(bytes);
  promised(whole.length > 0 && rest === 'nothing', `the request of ${route} is one to a strict reader`, rest);
  const methods = whole.map(({ method }) => method);
  const heard = await say(url, bytes, { answers: whole.length, methods, deadlineMs: 10_000 });
  const answers = parseAnswers(heard.bytes, methods);
  promised(answers.length === whole.length, `every request of ${route} is answered`, answers.length);
  const bad = answers.find(({ status }) => status >= 400);
  promised(bad === undefined, `the request of ${route} is good`, bad?.body.toString());
}

function request(route: string, head: string, body: string | Buffer = '', isDear = false): GoodRequest {
  const content = Buffer.from(body);
  const isChunked = head.toLowerCase().includes('transfer-encoding');
  const [line = '', ...fields] = head.split('\n');
  const length = content.length > 0 && !isChunked ? [`Content-Length: ${content.length}`] : [];
  const lines = [`${line} HTTP/1.1`, 'Host: localhost', ...fields, ...length, '', ''];
  return { route, bytes: Buffer.concat([Buffer.from(lines.join('\r\n')), content]), isDear };
}

function reads(): GoodRequest[] {
  const get = (route: string, target: string, headers = ''): GoodRequest =>
    request(route, `GET ${target}${headers === '' ? '' : `\n${headers}`}`);
  return [
    get('/ping', '/ping'),
    get('/info', '/info'),
    get('/openapi.json', '/openapi.json', 'Accept-Encoding: gzip'),
    request('OPTIONS', 'OPTIONS /imp\nOrigin: http://framehold.test\nAccess-Control-Request-Method: POST'),
    get('/exec handle', `/exec?handle=${readHandle}&fmt=json&limit=1,10&quoteLargeNum=true`, 'X-Request-Id: a-1'),
    get('/exec handle', `http://localhost/exec?handle=${readHandle}&fmt=json`, 'If-None-Match: "7", W/"8"'),
    request('/exec handle', `HEAD /exec?handle=${readHandle}&fmt=json`),
    get('/exec proxy', '/exec?query=select%201&fmt=json&limit=10&timings=true', 'Statement-Timeout: 1000'),
    get('/exec local', `/exec?query=select+*+from+${readHandle}&fmt=json&engine=local&cols=id&count=true`),
    get('/exp', `/exp?handle=${readHandle}&fmt=csv&delimiter=%3B&nm=true`, 'Accept-Encoding: br;q=0.5, gzip'),
    get('/exp', `/exp?handle=${readHandle}&fmt=parquet`, 'Range: bytes=4-20'),
    get('/exp', `/exp?handle=${readHandle}&fmt=arrow&limit=0,2&filename=a.arrow`),
    get('/exp', `/exp?handle=${readHandle}&fmt=ndjson&cols=id,%22price%22`),
    get('/exp local', `/exp?query=select+id+from+${readHandle}&engine=local&fmt=tsv&escapeFormulas=true&timeout=9`),
    get('/handles', '/handles?prefix=tar&limit=5&order=-created'),
    get('/handles/{handle}', `/handles/${readHandle}`, 'If-None-Match: "1"'),
  ];
}

function puts(parquet: Buffer): GoodRequest[] {
  const put = (target: string, headers: string, body: string | Buffer): GoodRequest =>
    request('/imp', `POST /imp?${target}\n${headers}`, body, true);
  const form = [
    '--edge',
    'Content-Disposition: form-data; name="schema"',
    '',
    '[{"name":"id","type":"LONG"}]',
    '--edge',
    'Content-Disposition: form-data; name="data"; filename="a.csv"',
    'Content-Type: text/csv',
    '',
    csv,
    '--edge--',
    '',
  ].join('\r\n');
  const chunked = `7;name=value\r\nid,pric\r\n00C\r\ne\n1,1.5\n2,2.\r\n2\r\n5\n\r\n0\r\nX-Sum: 1\r\n\r\n`;
  const arrow = Buffer.from(tableToIPC(tableFromArrays({ id: [1, 2, 3], text: ['a', 'b', 'c'] }), 'stream'));
  return [
    put('name=put_csv&overwrite=true&fmt=json&header=true&atomicity=skipRow', 'Content-Type: text/csv', csv),
    put('name=put_csv&overwrite=true', 'Expect: 100-continue\nContent-Type: text/csv; header=present', csv),
    put('name=put_form&overwrite=true', 'Content-Type: multipart/form-data; boundary="edge"', form),
    put('name=put_chunks&overwrite=true&format=csv', 'Transfer-Encoding: chunked\nTrailer: X-Sum', chunked),
    put('name=put_gzip&overwrite=true&ttl=12h', 'Content-Encoding: gzip', gzipSync(csv)),
    put('name=put_zstd&overwrite=true&schema=id%20LONG', 'Content-Encoding: zstd', zstdCsv),
    put('name=put_arrow&overwrite=true', 'Content-Type: application/vnd.apache.arrow.stream', arrow),
    put('name=put_parquet&overwrite=true', 'Content-Type: application/vnd.apache.parquet', parquet),
    put('name=put_json&overwrite=true&fmt=text', 'Content-Type: application/json', '[{"a":1,"b":[1,2]},{"a":2}]'),
    put('format=ndjson&ttl=1h', 'Content-Type: application/x-ndjson', '{"a":1}\n{"a":2}\n'),
  ];
}

function statements(): GoodRequest[] {
  const post = (body: object, headers = 'Content-Type: application/json'): GoodRequest =>
    request('/sql', `POST /sql\n${headers}`, JSON.stringify(body), true);
  return [
    post({ sql: 'select $a as a, $b as b', params: { a: { type: 'DATE', value: '2026-01-31' }, b: [1, 2] } }),
    post({ sql: `select * from ${readHandle} where id = ?`, params: [1], format: 'csv', delimiter: ';', limit: '1,2' }),
    post({ sql: `select id from ${readHandle}`, keep: { handle: 'kept', mode: 'overwrite', ttl: '1h' } }),
    post({ sql: 'create or replace table made as select 1 as a', timeout_ms: 9000 }, 'Accept: */*'),
  ];
}

function changes(): GoodRequest[] {
  const json = 'Content-Type: application/json';
  return [
    request('/handles/{handle}/renew', `POST /handles/kept/renew\n${json}`, '{"ttl":"15m"}', true),
    request('/handles/{handle}/renew', 'POST /handles/kept/renew?ttl=none', '', true),
    request('/handles/{handle}', 'DELETE /handles/made', '', true),
  ];
}
