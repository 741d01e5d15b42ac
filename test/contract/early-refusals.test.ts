import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Framehold, startFramehold } from '../support/framehold.ts';
import { putSql } from '../support/frames.ts';

const run = promisify(execFile);
/** More than the buffers of a connection hold. */
const body = Buffer.from(`a,b\n${'1,2\n'.repeat(1_500_000)}`);
const tries = 15;

let server: Framehold;
let target: URL;
let file: string;

beforeAll(async () => {
  server = await startFramehold();
  await putSql(server.frames, 'taken', 'SELECT 1 AS a');
  target = new URL('/imp?name=taken', server.url);
  file = join(server.dataDir, 'body.csv');
  await writeFile(file, body);
});

afterAll(() => server[Symbol.asyncDispose]());

/** One after the other: the status of each answer, or the error. */
const clients = {
  "Python's http.client": async (): Promise<readonly string[]> => {
    const code = `
import http.client, sys
host, path, file, tries = sys.argv[1:]
body = open(file, 'rb').read()
for _ in range(int(tries)):
    c = http.client.HTTPConnection(host, timeout=20)
    try:
        c.request('POST', path, body=body, headers={'Connection': 'close'})
        print(c.getresponse().status)
    except Exception as error:
        print(repr(error))
    c.close()`;
    const { pathname, search, host } = target;
    const { stdout } = await run('python3', ['-c', code, host, pathname + search, file, String(tries)]);
    return stdout.trim().split('\n');
  },
  curl: async () => {
    const found: string[] = [];
    const options = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', 'Connection: close', '-H', 'Expect:'];
    for (let n = 0; n < tries; n++) {
      const answer = run('curl', [...options, '--data-binary', `@${file}`, target.href]);
      found.push(await answer.then(({ stdout }) => stdout, String));
    }
    return found;
  },
  'Node.js': async () => {
    const found: string[] = [];
    for (let n = 0; n < tries; n++) {
      const answer = new Promise<string>((resolve, reject) => {
        const sent = request(target, { method: 'POST', agent: false, headers: { connection: 'close' } });
        sent.on('error', reject).on('response', (response) => {
          response.resume().on('end', () => resolve(String(response.statusCode)));
        });
        sent.end(body);
      });
      found.push(await answer.catch(String));
    }
    return found;
  },
} satisfies Record<string, () => Promise<readonly string[]>>;

test.each(Object.entries(clients))(
  '%s gets every early refusal of a body on a connection that is to close',
  async (_, send) => {
    expect(await send()).toEqual(Array.from({ length: tries }, () => '409'));
  },
);

test('behind such an answer the body is read to its end', async () => {
  const head = `POST /imp?name=taken HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
  socket.write(head);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 409 /);
  const closed = once(socket, 'close');
  await once(socket.resume(), 'end');
  // Our half is open still, and what goes through it is read.
  await new Promise<void>((resolve, reject) =>
    socket.write(body, (error) => (error == null ? resolve() : reject(error))),
  );
  socket.end();
  await closed;
});
