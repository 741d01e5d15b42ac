import { rename, symlink, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/http-client.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { makeTlsFiles, servedSerials, serverNames, startTlsFramehold, writePair } from '../support/tls-framehold.ts';

const serialOf = ({ serial }: { serial: Buffer }): string => serial.toString('hex').toUpperCase();

describe('a certificate that changes on disk', () => {
  it('is served by both listeners, and no request fails, nor does a connection end', async () => {
    await using server = await startTlsFramehold();
    const { files, url, grpcAddress } = server;
    const tls = { ca: files.authority.cert };
    const kept = new Agent({ keepAlive: true, maxSockets: 1, ca: files.authority.cert });
    const viaKept = () =>
      new Promise<{ status: number; reused: boolean }>((resolve, reject) => {
        const outgoing = request(`${url}/ping`, { agent: kept }, (incoming) => {
          incoming
            .resume()
            .on('end', () => resolve({ status: incoming.statusCode ?? 0, reused: outgoing.reusedSocket }));
        });
        outgoing.on('error', reject).end();
      });
    expect((await viaKept()).status).toBe(200);

    const statuses = new Set<number>();
    let asked = 0;
    let isOver = false;
    const traffic = [0, 1, 2].map(async () => {
      while (!isOver) {
        statuses.add((await ask(`${url}/ping`, { tls })).status);
        asked += 1;
      }
    });
    for (let round = 0; round < 3; round++) {
      const next = files.authority.issue(serverNames);
      await writePair(files, next);
      await expect
        .poll(async () => {
          expect(await viaKept()).toEqual({ status: 200, reused: true });
          return servedSerials({ url, grpcPort: grpcAddress.port });
        })
        .toEqual([serialOf(next), serialOf(next)]);
    }
    isOver = true;
    await Promise.all(traffic);
    kept.destroy();
    expect([...statuses]).toEqual([200]);
    expect(asked).toBeGreaterThan(10);
    expect(server.log()).not.toContain('could not be loaded again');
  });

  it('and cannot be used leaves the old one, with one error in the log', async () => {
    await using server = await startTlsFramehold();
    const { files, url, grpcAddress } = server;
    const before = await servedSerials({ url, grpcPort: grpcAddress.port });
    const errors = (): number => server.log().split('the certificate could not be loaded again').length - 1;

    const { cert } = files.authority.issue(serverNames);
    await writeFile(files.certFile, cert);
    await expect.poll(errors).toBe(1);
    expect(server.log()).toContain(`tls.key_file (${files.keyFile}) is not the key of the certificate`);
    // A change is taken after several looks, each of which would have told of the same files again.
    await writeFile(files.certFile, files.authority.issue(serverNames).cert);
    await expect.poll(errors).toBeGreaterThan(1);
    expect(errors()).toBe(2);
    expect(await servedSerials({ url, grpcPort: grpcAddress.port })).toEqual(before);

    const next = files.authority.issue(serverNames);
    await writePair(files, next);
    await expect
      .poll(() => servedSerials({ url, grpcPort: grpcAddress.port }))
      .toEqual([serialOf(next), serialOf(next)]);
  });

  it('by a link to another folder is seen, as Kubernetes changes its secrets', async () => {
    await using folder = await temporaryDirectory();
    const files = await makeTlsFiles(folder.path);
    const second = files.authority.issue(serverNames);
    await using other = await temporaryDirectory();
    await writePair({ certFile: join(other.path, 'tls.crt'), keyFile: join(other.path, 'tls.key') }, second);
    const link = join(folder.path, 'current');
    await symlink(folder.path, link);
    await using server = await startTlsFramehold(() => ({
      'tls.cert_file': join(link, 'tls.crt'),
      'tls.key_file': join(link, 'tls.key'),
    }));
    await symlink(other.path, `${link}.new`);
    await rename(`${link}.new`, link);
    const grpcPort = server.grpcAddress.port;
    await expect.poll(() => servedSerials({ url: server.url, grpcPort })).toEqual([serialOf(second), serialOf(second)]);
  });
});

it('SIGHUP loads the files at once, and the server goes on', async () => {
  await using folder = await temporaryDirectory();
  const files = await makeTlsFiles(folder.path);
  await using server = await spawnFramehold({
    dataDir: join(folder.path, 'data'),
    flags: ['--tls-cert-file', files.certFile, '--tls-key-file', files.keyFile],
  });
  expect(server.banner).toContain('https://127.0.0.1:');
  expect(server.banner).toContain('grpc+tls://127.0.0.1:');
  server.kill('SIGHUP');
  await expect.poll(() => server.stderr()).toContain('the certificate was loaded again');
  expect(server.hasExited()).toBe(false);
  server.kill('SIGINT');
  expect((await server.exited).code).toBe(0);
});

it.each([
  [13, 'the certificate ends in 13 days'],
  [-1, 'the certificate has ended'],
  [15, undefined],
])('a certificate with %i days left is warned of: %s', async (daysLeft, warning) => {
  await using server = await startTlsFramehold();
  const { files } = server;
  expect(server.log()).toContain('the certificate ends in 1 days');
  await writePair(files, files.authority.issue({ ...serverNames, daysLeft }));
  await expect.poll(() => server.log()).toContain('the certificate was loaded again');
  const after = server.log().split('the certificate was loaded again')[1] ?? '';
  if (warning === undefined) expect(after).not.toMatch(/the certificate (ends|has)/);
  else expect(after).toContain(warning);
});
