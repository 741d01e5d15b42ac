import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { bytesField, messagePrefix } from '@framehold/grpc';
import { Int32, Table, tableFromIPC, tableToIPC, vectorFromArray } from 'apache-arrow';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cleanup } from '../../src/core/async/cleanup.ts';
import { commandsOf } from '../support/command-here.ts';
import { flightDataOf } from '../support/flight-client.ts';
import { spawnCommand } from '../support/spawned-command.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let cwd: string;
let cleanup: Cleanup;

beforeEach(async () => {
  cleanup = new Cleanup();
  cwd = cleanup.use(await temporaryDirectory()).path;
  return () => cleanup[Symbol.asyncDispose]();
});

/** A server that misbehaves as the test wants. */
async function httpServer(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}`;
}

async function listen(server: Server | ReturnType<typeof createHttp2Server>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.defer(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const info = (port: number): string =>
  JSON.stringify({ name: 'framehold', version: '9', grpc: { host: '0.0.0.0', port }, engines: ['local'] });

const run = commandsOf(() => ({ cwd }));
const framehold = (server: string, ...argv: string[]) => run([...argv, '--server', server]);
const bytesOf = async (request: IncomingMessage): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
};
const someArrow = (): Uint8Array => tableToIPC(new Table({ n: vectorFromArray([1, 2, 3], new Int32()) }), 'stream');

describe('a server that is not there', () => {
  it.each([['ls'], ['get', 'x'], ['sql', 'select 1'], ['rm', 'x'], ['ping']])(
    'is told by %s, with what to do',
    async (...argv) => {
      const address = `http://127.0.0.1:${await closedPort()}`;
      const { status, stdout, stderr } = await framehold(address, ...argv);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe(
        `framehold: ${argv[0] === 'ping' ? 'HTTP: ' : ''}no server answers at ${address} (is the server running? "framehold server" starts one; --server or FRAMEHOLD_SERVER names another)\n`,
      );
    },
  );

  it('ends a put of several files at the first', async () => {
    for (const name of ['a.csv', 'b.csv', 'c.csv']) writeFileSync(join(cwd, name), 'n\n1\n');
    const { status, stderr } = await framehold(
      `http://127.0.0.1:${await closedPort()}`,
      'put',
      'a.csv',
      'b.csv',
      'c.csv',
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/^framehold: a\.csv: no server answers at .*; not put either: b\.csv, c\.csv\n$/);
  });

  it('is told by ping also of gRPC alone', async () => {
    const port = await closedPort();
    const server = await httpServer((_, response) => response.end(info(port)));
    const { status, stdout, stderr } = await framehold(server, 'ping');
    expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.stringMatching(/^HTTP .*\n$/) });
    expect(stderr).toContain(`framehold: gRPC: no server answers at grpc://127.0.0.1:${port}`);
  });

  it('is told by name where the host is unknown', async () => {
    const { stderr } = await framehold('http://no-such-host.invalid:9000', 'ls');
    expect(stderr).toMatch(/^framehold: (there is no such host|the host name cannot be looked up now): /);
  });
});

describe('a server that refuses', () => {
  it('says when to try again', async () => {
    const server = await httpServer((_, response) => {
      response.writeHead(503, { 'retry-after': '7' }).end('{"error":"too much","code":"overloaded"}');
    });
    expect(await framehold(server, 'ls')).toMatchObject({
      status: 1,
      stderr: 'framehold: too much (try again in 7 s)\n',
    });
  });

  it('while it is still being sent to is heard', async () => {
    writeFileSync(join(cwd, 'big.csv'), Buffer.alloc(50_000_000, '1\n'));
    const server = await httpServer((_, response) => {
      response.writeHead(409).end('{"error":"big is taken","code":"handle_exists"}');
    });
    expect(await framehold(server, 'put', 'big.csv')).toMatchObject({
      status: 1,
      stderr: 'framehold: big.csv: big is taken (use --overwrite to replace it, or --append to add to it)\n',
    });
  });

  it('and is no Framehold is told so, and nothing that it sends reaches the terminal as it is', async () => {
    const stranger = await httpServer((_, response) => response.writeHead(404).end('<html>'));
    expect(await framehold(stranger, 'ls')).toMatchObject({
      status: 1,
      stderr: `framehold: ${stranger} answered 404, and not as Framehold does (check the address: --server or FRAMEHOLD_SERVER)\n`,
    });
    const rude = await httpServer((_, response) => response.writeHead(400).end('{"error":"a\\u001b[2Jb\\nc"}'));
    expect((await framehold(rude, 'ls')).stderr).toBe('framehold: a\\u001b[2Jb\\nc\n');
  });
});

describe('a transfer that breaks', () => {
  it('on its way down leaves no file', async () => {
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' });
      response.write('n\n1\n', () => setImmediate(() => response.destroy()));
    });
    expect(await framehold(server, 'get', 'x', '-o', 'x.csv')).toMatchObject({
      status: 1,
      stderr: `framehold: the connection to ${server} broke in mid-transfer (nothing was written; run the same command again)\n`,
    });
    expect(readdirSync(cwd)).toEqual([]);
    const { status, stderr } = await framehold(server, 'get', 'x');
    expect(status).toBe(1);
    expect(stderr).toContain('(what was printed is not whole; run the same command again)');
  });

  it('on its way up says that nothing was kept', async () => {
    writeFileSync(join(cwd, 'big.csv'), Buffer.alloc(50_000_000, '1\n'));
    const server = await httpServer((request) => request.once('data', () => request.socket.destroy()));
    expect(await framehold(server, 'put', 'big.csv')).toMatchObject({
      status: 1,
      stderr: `framehold: big.csv: the connection to ${server} broke in mid-transfer (nothing of it was kept; run the same command again)\n`,
    });
  });

  it('after all was sent says how to find out', async () => {
    writeFileSync(join(cwd, 'small.csv'), 'n\n1\n');
    const server = await httpServer((request) => {
      void bytesOf(request).then(() => request.socket.destroy());
    });
    expect(await framehold(server, 'put', 'small.csv')).toMatchObject({
      status: 1,
      stderr: `framehold: small.csv: the connection to ${server} broke before its answer came (all was sent, and it may be held: "framehold info small" tells)\n`,
    });
  });

  it('on its way down over Flight leaves no file', async () => {
    const [schema, batch] = flightDataOf(someArrow());
    const flight = createHttp2Server();
    flight.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      const messages = [schema, batch].map((part) => {
        const message = Buffer.concat([bytesField(2, part?.dataHeader ?? ''), bytesField(1000, part?.dataBody ?? '')]);
        return Buffer.concat([messagePrefix(message.length), message]);
      });
      stream.write(Buffer.concat(messages), () => stream.session?.destroy());
    });
    const port = await listen(flight);
    const server = await httpServer((_, response) => response.end(info(port)));
    const { status, stderr } = await framehold(server, 'get', 'x', '-o', 'x.arrow');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^framehold: the connection to grpc:\/\/\S+ broke .*\(nothing was written; run/);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('where gRPC does not come through', () => {
  it('Arrow goes over HTTP', async () => {
    const port = await closedPort();
    const received: { target: string | undefined; body: Buffer }[] = [];
    const server = await httpServer(async (request, response) => {
      const body = await bytesOf(request);
      if (request.url === '/info') response.end(info(port));
      else if (request.url?.startsWith('/exp')) response.end(someArrow());
      else {
        received.push({ target: request.url, body });
        response.end(
          '{"handle":"x","version":1,"rowsImported":3,"rowsRejected":0,"rejections":[],"columns":[],"bytes":9}',
        );
      }
    });
    expect(await framehold(server, 'get', 'x', '-o', 'x.arrow')).toMatchObject({ status: 0, stderr: '' });
    expect(await framehold(server, 'put', 'x.arrow')).toMatchObject({ status: 0, stderr: '' });
    expect(received).toHaveLength(1);
    expect(received[0]?.target).toBe('/imp?name=x&format=arrow&fmt=json');
    expect(tableFromIPC(received[0]?.body ?? '').numRows).toBe(3);
  });
});

describe('Ctrl-C', () => {
  /** Stops the command when the server has heard of it. */
  async function stopped(argv: readonly string[], listener?: RequestListener) {
    const { promise, resolve } = heard();
    const server = await httpServer((request, response) => {
      listener?.(request, response);
      resolve();
    });
    const { child, result } = spawnCommand([...argv, '--server', server], { cwd });
    await promise;
    child.kill('SIGINT');
    return result;
  }

  it('stops a put with 130 and says what was not put', async () => {
    writeFileSync(join(cwd, 'big.csv'), Buffer.alloc(50_000_000, '1\n'));
    writeFileSync(join(cwd, 'b.csv'), 'n\n1\n');
    expect(await stopped(['put', 'big.csv', 'b.csv'])).toMatchObject({
      status: 130,
      stdout: '',
      stderr: 'framehold: stopped; big.csv, b.csv were not put\n',
    });
  });

  it('behind an upload that was sent whole says that it may be held', async () => {
    for (const name of ['a.csv', 'b.csv']) writeFileSync(join(cwd, name), 'n\n1\n');
    const { promise, resolve } = heard();
    const server = await httpServer((request) => void request.resume().once('end', resolve));
    const { child, result } = spawnCommand(['put', 'a.csv', 'b.csv', '--server', server], { cwd });
    await promise;
    child.kill('SIGINT');
    expect(await result).toMatchObject({
      status: 130,
      stderr:
        'framehold: stopped; a.csv was sent whole, and it may be held: "framehold info a" tells; b.csv was not put\n',
    });
  });

  it('stops a put that waits for standard input at once', async () => {
    const { promise, resolve } = heard();
    const server = await httpServer(resolve);
    const { child, result } = spawnCommand(['put', '-', '--handle', 'x', '--server', server], { cwd, stdin: null });
    child.stdin?.write('n\n1\n2\n3\n');
    await promise;
    child.kill('SIGINT');
    expect(await result).toMatchObject({ status: 130, stderr: 'framehold: stopped; standard input was not put\n' });
  });

  it('stops a get with 130 and leaves no file', async () => {
    const result = await stopped(['get', 'x', '-o', 'x.csv'], (_, response) => {
      response.writeHead(200).write('n\n1\n');
    });
    expect(result).toMatchObject({ status: 130, stderr: 'framehold: stopped; x.csv was not written\n' });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('stops a statement with 130', async () => {
    expect(await stopped(['sql', 'select 1'])).toMatchObject({
      status: 130,
      stderr: 'framehold: stopped; the statement was cancelled\n',
    });
  });
});

function heard(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
