import { createSecureServer } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { batchOf, scriptedConnectServer } from '../../../test/support/scripted-connect-server.ts';
import { selfSigned } from '../../../test/support/self-signed.ts';
import { rowsOf, runSql, sparkEngine, unstopped } from '../../../test/support/spark-engine.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';

it('a token that the server refuses is said so, without the token', async () => {
  await using server = await scriptedConnectServer((call) =>
    call.fail('UNAUTHENTICATED', 'Invalid authentication token'),
  );
  await using engine = sparkEngine({ url: `${server.url}/;token=s3cret` });
  await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({
    code: 'engine_unreachable',
    message: 'engine cluster does not accept our token',
    hint: expect.not.stringContaining('s3cret'),
  });
});

it('sends the token and further headers with every call', async () => {
  const seen: unknown[] = [];
  await using server = await scriptedConnectServer(async (call) => {
    seen.push([call.headers.authorization, call.headers['x-tenant'], call.headers['user-agent']]);
    if (call.method !== 'ExecutePlan') return;
    await call.send(batchOf([1], 'r0'));
    await call.send({ resultComplete: {} });
    call.end();
  });
  await using engine = sparkEngine({ url: `${server.url}/;token=s3cret;x-tenant=a` });
  await rowsOf(await runSql(engine, 'SELECT 1'));
  expect(seen[0]).toEqual(['Bearer s3cret', 'a', 'framehold']);
});

it('a server that takes connections and says nothing is given up in time', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  try {
    const { port } = silent.address() as AddressInfo;
    await using engine = sparkEngine({ url: `sc://127.0.0.1:${port}`, connectTimeoutMs: 200 });
    await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({ code: 'engine_unreachable' });
    expect(await engine.health(unstopped)).toMatchObject({ state: 'down' });
  } finally {
    silent.close();
  }
});

it('a server without TLS is not spoken to where TLS is asked for', async () => {
  await using server = await scriptedConnectServer(() => {});
  await using engine = sparkEngine({ url: `${server.url}/;use_ssl=true`, connectTimeoutMs: 300 });
  await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({
    code: 'engine_unreachable',
    message: 'engine cluster does not speak TLS as asked for',
  });
  expect(server.calls).toEqual([]);
});

it('a certificate that nobody vouches for is refused', async () => {
  await using folder = await temporaryDirectory();
  const { key, cert } = selfSigned(folder.path);
  const server = createSecureServer({ key, cert }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await using engine = sparkEngine({ url: `sc://localhost:${port}/;use_ssl=true`, connectTimeoutMs: 300 });
    await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({
      code: 'engine_unreachable',
      message: 'engine cluster has a certificate that is not trusted',
    });
  } finally {
    server.close();
  }
});

it('a certificate that stands in the file of extra ones is trusted', async () => {
  await using folder = await temporaryDirectory();
  const { key, cert, certFile } = selfSigned(folder.path);
  const server = createSecureServer({ key, cert }).listen(0, '127.0.0.1');
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const url = `sc://localhost:${port}/;use_ssl=true`;
    await using engine = sparkEngine({ url, extraCertificatesFile: certFile });
    await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({
      message: 'engine cluster does not know this call: is it a Spark Connect server?',
    });
  } finally {
    server.close();
  }
});

it('a closed engine connects to nothing any more', async () => {
  await using server = await scriptedConnectServer(() => {});
  const engine = sparkEngine({ url: server.url });
  await engine[Symbol.asyncDispose]();
  expect(await engine.health(unstopped)).toMatchObject({ state: 'down' });
  await expect(runSql(engine, 'SELECT 1')).rejects.toMatchObject({ code: 'engine_unreachable' });
  expect(server.calls).toEqual([]);
});
