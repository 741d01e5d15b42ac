import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { certificateAuthority } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { TestIssuer } from '../support/issuer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { serverNames } from '../support/tls-framehold.ts';

const guide = readFileSync(new URL('../../docs/guides/access.md', import.meta.url), 'utf8');
const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Until the server that was just started answers. */
const untilServed = 'until curl -s --cacert ca.crt https://127.0.0.1:9000/ping > /dev/null; do sleep 0.1; done';

test('the steps from a laptop to three teams work as they stand in the guide', async () => {
  const [part = ''] = /^## From a laptop to three teams$[\s\S]*?(?=^## )/m.exec(guide) ?? [];
  const steps = [...part.matchAll(/<!-- step(?:: (\w+))? -->\n {3}```sh\n([\s\S]*?) {3}```/g)].map(
    ([, kind, code = '']) => ({ kind, code: code.replaceAll(/^ {3}/gm, '') }),
  );
  expect(steps).toHaveLength(part.match(/```sh/g)?.length ?? 0);
  expect(steps.length).toBeGreaterThanOrEqual(8);
  await using directory = await temporaryDirectory();
  const issuer = await TestIssuer.start();
  const authority = certificateAuthority();
  const { cert, key } = authority.issue(serverNames);
  const [httpPort, grpcPort] = [await freePort(), await freePort()];
  await writeFile(join(directory.path, 'ca.crt'), authority.cert);
  // One's own authority takes the place of openssl, which a machine may not have.
  await writeFile(join(directory.path, 'tls.crt'), `${cert}${authority.cert}`);
  await writeFile(join(directory.path, 'tls.key'), key);
  // Not a function of the shell: one in the background is a shell of its own, and the server would outlive it.
  await mkdir(join(directory.path, 'bin'));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  await writeFile(join(directory.path, 'bin/framehold'), command, { mode: 0o755 });
  const script = [
    'PATH="$PWD/bin:$PATH"',
    "trap 'kill $(jobs -p); wait' EXIT",
    ...steps.map(({ kind, code }) =>
      kind === 'certificate'
        ? 'true'
        : kind === 'server'
          ? `${code.replace(/ &\n$/, '')} --http-bind-address 127.0.0.1:9000 --grpc-host 127.0.0.1 --grpc-port ${grpcPort} > server.log 2>&1 &\n${untilServed}`
          : code,
    ),
  ]
    .join('\n')
    .replaceAll('127.0.0.1:9000', `127.0.0.1:${httpPort}`)
    .replaceAll('https://login.example.com', issuer.url)
    .replaceAll('=tls.crt', '=ca.crt')
    .replaceAll('--cacert tls.crt', '--cacert ca.crt');
  try {
    const env = { PATH: process.env.PATH, HOME: directory.path };
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], {
      cwd: directory.path,
      env,
      timeout: 60_000,
    });
    expect(stdout).toContain('"dataset":[["BTC-USD",71039.35],["ETH-USD",3551.96]]');
    expect(stdout).toMatch(/71039\.35\s*$/m);
    expect(stdout).toMatch(/"name":"dashboard".*"handle":"trading\/feed\.trades"/);
    for (const tenant of ['trading', 'research', 'risk']) expect(stdout).toContain(tenant);
  } finally {
    issuer.stop();
  }
}, 90_000);
