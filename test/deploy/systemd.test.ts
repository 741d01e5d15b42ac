import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/frame-store.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http-client.ts';
import { leftOutWithoutMount } from '../support/left-out.ts';
import { needed } from '../support/missing.ts';
import { childrenOf, commandOf, familyOf } from '../support/process-facts.ts';
import { spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openNotifySocket } from './notify-socket.ts';
import {
  type SystemdManager,
  startSystemd,
  systemdEnvironment,
  systemdFiles,
  writeTargets,
} from './systemd-manager.ts';

const run = promisify(execFile);

/** Of 100, by the rules of systemd; less is better. */
const highestExposure = 15;

const environment = await needed('systemd', systemdEnvironment);
const env = environment ?? { PATH: '' };

describe.skipIf(environment === undefined)('a server whose service manager listens', () => {
  test('tells that it is ready, that it lives, and that it stops', async () => {
    await using manager = await openNotifySocket();
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({
      dataDir: directory.path,
      flags: ['--shutdown-grace', '40s'],
      env: { ...env, NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '200000' },
    });
    const { host, port } = new URL(server.url);
    const beats = (): number => manager.messages().filter((message) => message === 'WATCHDOG=1').length;
    await expect.poll(beats).toBeGreaterThan(2);
    server.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    // What it sent last may be under way.
    await expect.poll(() => manager.messages()).toContain('EXTEND_TIMEOUT_USEC=43000000');
    const states = manager.messages().filter((message) => message !== 'WATCHDOG=1');
    expect(port).not.toBe('');
    expect(states).toEqual([
      `STATUS=serving ${host} (HTTP) and 127.0.0.1:${server.grpcPort} (gRPC)`,
      'READY=1',
      'STOPPING=1',
      'EXTEND_TIMEOUT_USEC=43000000',
    ]);
    expect(server.stderr()).not.toContain('NOTIFY_SOCKET');
  });

  test('serves without systemd-notify as well, and warns once', async () => {
    await using manager = await openNotifySocket();
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({
      dataDir: directory.path,
      env: { PATH: '/nowhere', NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '100000' },
    });
    await expect.poll(() => server.stderr()).toContain('install systemd-notify');
    expect((await ask(`${server.url}/readyz`)).status).toBe(200);
    server.kill('SIGTERM');
    expect((await server.exited).code).toBe(0);
    expect(server.stderr().match(/NOTIFY_SOCKET/g)).toHaveLength(1);
    expect(server.stderr()).toContain('systemd-notify: not found');
    expect(manager.messages()).toEqual([]);
  });

  test('is silent where the manager waits for another process', async () => {
    await using manager = await openNotifySocket();
    await using directory = await temporaryDirectory();
    await using server = await spawnFramehold({
      dataDir: directory.path,
      env: { ...env, NOTIFY_SOCKET: manager.path, WATCHDOG_USEC: '100000', WATCHDOG_PID: '1' },
    });
    expect(
      childrenOf(server.pid)
        .map(commandOf)
        .filter((command) => command.startsWith('/bin/sh')),
    ).toEqual([]);
  });
});

describe.skipIf(environment === undefined)('framehold.service', () => {
  test('has no fault that systemd-analyze finds', async () => {
    await using directory = await temporaryDirectory();
    const units = join(directory.path, 'etc/systemd/system');
    for (const folder of [units, join(directory.path, 'usr/local/bin'), join(directory.path, 'bin')])
      await mkdir(folder, { recursive: true });
    await writeTargets(units);
    await cp(join(systemdFiles, 'framehold.service'), join(units, 'framehold.service'));
    for (const program of ['usr/local/bin/framehold', 'bin/kill'])
      await writeFile(join(directory.path, program), '#!/bin/sh\n', { mode: 0o755 });
    const found = await run('systemd-analyze', ['verify', '--root', directory.path, 'framehold.service'], { env });
    expect(found).toEqual({ stdout: '', stderr: '' });
  });

  test('is exposed no more than is stated', async () => {
    const unit = join(systemdFiles, 'framehold.service');
    const args = ['security', '--no-pager', '--offline=yes', `--threshold=${highestExposure}`, unit];
    const { stdout } = await run('systemd-analyze', args, { env });
    expect(stdout).toContain('Overall exposure level');
  });
});

const canManage = environment !== undefined && !leftOutWithoutMount();

describe.skipIf(!canManage)('framehold.service under a real systemd', () => {
  let manager: SystemdManager;
  let url: string;
  let token: string;
  let config: string;
  const send = (path: string, body?: string) =>
    ask(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
  const count = async (): Promise<unknown> => {
    const answer = await send('/exec?query=select+count(*)+from+trades&engine=local&fmt=json');
    return (answer.json() as { dataset?: unknown }).dataset ?? answer.text;
  };

  beforeAll(async () => {
    const [http, grpc] = [await freePort(), await freePort()];
    url = `http://127.0.0.1:${http}`;
    const shipped = readFileSync(join(systemdFiles, 'config.toml'), 'utf8');
    config = `${shipped.replace(':9000', `:${http}`).replace('50052', String(grpc))}
[auth]
enabled = true
[audit]
file = "/var/log/framehold/audit.jsonl"
`;
    manager = await startSystemd({
      environment: env,
      config,
      // Shorter than what is shipped.
      dropIn: '[Service]\nWatchdogSec=2s\nRestartSec=100ms\n',
    });
    // Returns when the service is ready.
    await manager.run('systemctl', 'start', 'framehold');
    const make = [
      'framehold',
      'token',
      'create',
      '--role',
      'admin',
      '--name',
      'me',
      '--data-dir',
      '/var/lib/framehold',
    ];
    token = await manager.run('runuser', '-u', 'framehold', '--', ...make);
    // Known within a second.
    await eventually(async () => (await send('/handles')).status === 200);
  });

  afterAll(async () => manager?.[Symbol.asyncDispose]());

  test('is active when it can be asked, and says where', async () => {
    expect(await manager.show('ActiveState')).toBe('active');
    expect(await manager.show('StatusText')).toContain(`serving ${new URL(url).host} (HTTP)`);
    expect((await ask(`${url}/readyz`)).status).toBe(200);
  });

  test('keeps and reads frames and runs SQL of callers, in every restriction', async () => {
    expect((await send('/imp?name=trades', 'a\n1\n2\n')).status).toBe(200);
    expect(await count()).toEqual([[2]]);
    const members = familyOf(await manager.mainPid());
    expect(members.length).toBeGreaterThan(3);
    for (const pid of members) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      expect(status).toMatch(/^CapBnd:\t0+$/m);
      expect(status).not.toMatch(/^Uid:\t0\t/m);
    }
    expect(await manager.run('cat', '/var/log/framehold/audit.jsonl')).toContain('trades');
    expect(manager.log()).not.toMatch(/Landlock|EPERM|EACCES|EROFS/);
  });

  test('stays as it is when a DuckDB process is killed', async () => {
    const main = await manager.mainPid();
    const [worker] = childrenOf(main).filter((pid) => commandOf(pid).includes('worker.js'));
    process.kill(worker ?? 0, 'SIGKILL');
    await eventually(async () => !childrenOf(main).includes(worker ?? 0));
    expect(await count()).toEqual([[2]]);
    expect(await manager.mainPid()).toBe(main);
  });

  test('is not ended by a reload', async () => {
    const main = await manager.mainPid();
    await manager.run('systemctl', 'reload', 'framehold');
    expect((await ask(`${url}/readyz`)).status).toBe(200);
    expect(await manager.mainPid()).toBe(main);
  });

  test('is started again when it stands still, and has its frames', async () => {
    expect(await manager.show('NRestarts')).toBe('0');
    process.kill(await manager.mainPid(), 'SIGSTOP');
    await expect.poll(() => manager.show('NRestarts'), { timeout: 30_000 }).toBe('1');
    await expect.poll(() => manager.show('ActiveState'), { timeout: 30_000 }).toBe('active');
    expect(await count()).toEqual([[2]]);
  });

  test('ends with success when it is stopped, and leaves no process', async () => {
    const members = familyOf(await manager.mainPid());
    await manager.run('systemctl', 'stop', 'framehold');
    expect(await manager.show('Result')).toBe('success');
    expect(await manager.show('ExecMainStatus')).toBe('0');
    expect(members.filter((pid) => /framehold|worker\.js/.test(commandOf(pid)))).toEqual([]);
  });

  test('is not started again and again with a wrong setting', async () => {
    await manager.configure(config.replace('[http]', '[htp]'));
    await expect(manager.run('systemctl', 'start', 'framehold')).rejects.toThrow('systemctl');
    expect(await manager.show('ActiveState')).toBe('failed');
    expect(await manager.show('ExecMainStatus')).toBe('2');
    expect(manager.log()).toContain('unknown section [htp] in /etc/framehold/config.toml');
  });
});
