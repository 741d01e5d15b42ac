import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { AccessRecords } from '../../src/auth/access-records.ts';
import { tenantRegistry } from '../../src/auth/tenant-registry.ts';
import type { Role, Tenant } from '../../src/core/callers/principal.ts';
import { DurableFiles } from '../../src/frames/disk/durable-file.ts';
import { smallDisk } from '../faults/disk/small-disk.ts';
import { injectFault } from '../faults/harness/injected-fault.ts';
import { FlightSqlClient } from '../support/flight-sql-client.ts';
import { eventually } from '../support/frame-store.ts';
import { type AskOptions, ask } from '../support/http-client.ts';
import { leftOutWithoutMount, leftOutWithoutStrace } from '../support/left-out.ts';
import { needed } from '../support/missing.ts';
import { childrenOf, openFilesOf } from '../support/process-facts.ts';
import { type SpawnedFramehold, spawnFramehold } from '../support/spawned-framehold.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { startUpstream } from '../support/upstream.ts';
import { prometheusFolder, promtool, startPrometheus } from './prometheus.ts';

const deploy = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));
const alerts = readFileSync(join(deploy, 'alerts.yml'), 'utf8');
const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

const largeRows = 400_000;

const folder = await needed('Prometheus', prometheusFolder);
const canMakeFaults = !leftOutWithoutMount() && !leftOutWithoutStrace();

describe.skipIf(folder === undefined)('the rules for Prometheus', () => {
  test('are taken by promtool, and the config that names them', async () => {
    expect(await promtool(folder ?? '', ['check', 'rules', join(deploy, 'alerts.yml')])).toContain('SUCCESS');
    expect(await promtool(folder ?? '', ['check', 'config', join(deploy, 'prometheus.yml')])).toContain('SUCCESS');
  });

  test('fire after their time on series that promtool makes up, each of them', async () => {
    expect(await promtool(folder ?? '', ['test', 'rules', join(deploy, 'alerts.test.yml')])).toContain('SUCCESS');
    const tested = readFileSync(join(deploy, 'alerts.test.yml'), 'utf8');
    expect(names.filter((name) => !tested.includes(`alertname: ${name}\n`))).toEqual([]);
  });

  test('are all in the guide for operators', () => {
    const guide = readFileSync(join(deploy, '../../docs/guides/operating.md'), 'utf8');
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });

  test.skipIf(!canMakeFaults)('fire when their fault is made, each of them', { timeout: 300_000 }, async () => {
    await using disk = await smallDisk({ bytes: 160 * 2 ** 20 });
    await using other = await temporaryDirectory();
    await using upstream = await startUpstream();
    const token = await operatorToken(disk.path);
    await using full = await spawnFramehold({
      dataDir: disk.path,
      flags: [
        ...['--auth-enabled', '--tsdb-http-url', 'http://127.0.0.1:1', '--sql-workers', '1', '--sql-timeout', '2s'],
        ...['--cache-size', '0.02', '--shutdown-grace', '0s'],
        // So slow that the disk is full before it has ended.
        ...['--compression-level', '19'],
      ],
    });
    await using slow = await spawnFramehold({
      dataDir: other.path,
      flags: ['--tsdb-http-url', upstream.url, '--tsdb-max-connections', '1', '--max-followers', '1'],
    });
    await using prometheus = await startPrometheus(folder ?? '', {
      targets: [full, slow].map(({ url }) => new URL(url).host),
      token,
      rules: soon(alerts),
    });
    await expect.poll(async () => (await prometheus.query('up == 1')).length).toBe(2);
    const faults = [faultsOfFull(full, disk, token), faultsOfSlow(slow, other.path)];
    const fired = new Set<string>();
    const missing = async (): Promise<readonly string[]> => {
      for (const name of await prometheus.firing()) fired.add(name);
      return names.filter((name) => !fired.has(name));
    };
    // That of a server that is down may fire before it is: on a busy machine one that stands still is late for its scrape.
    const others = async () => (await missing()).filter((name) => name !== 'FrameholdDown');
    await expect.poll(others, { timeout: 240_000, interval: 500 }).toEqual([]);
    // Before the kill: strace never lets go of a process that dies in a call that it delays.
    for (const end of await Promise.all(faults)) await end();
    slow.kill('SIGKILL');
    await expect.poll(missing, { timeout: 20_000, interval: 500 }).toEqual([]);
  });
});

/** The same alerts, as soon as there is a reason. */
function soon(rules: string): string {
  return rules
    .replaceAll(/^( +for:) .*/gm, '$1 0s')
    .replaceAll(/(min_over_time\([^)]*)\[5m\]/g, '$1[3s]')
    .replace('framehold_log_oldest_seconds > 300', 'framehold_log_oldest_seconds > 2');
}

async function operatorToken(dataDir: string): Promise<string> {
  using records = await AccessRecords.open(join(dataDir, 'cold'), new DurableFiles());
  await tenantRegistry(records).create('acme', { max_frames: 1 });
  const made = { prefix: undefined, expiresAt: undefined };
  const create = (name: string, role: Role, tenant?: Tenant) =>
    records.createToken({ ...made, name, role, tenant: tenant as Tenant });
  const { token } = await create('operator', 'operator');
  return token;
}

type Ending = () => Promise<void>;

/** Disk, storage, processes, statements and tenants. */
async function faultsOfFull(
  server: SpawnedFramehold,
  disk: Awaited<ReturnType<typeof smallDisk>>,
  token: string,
): Promise<Ending> {
  const headers = { authorization: `Bearer ${token}` };
  const send = (path: string, options: AskOptions = {}) => ask(`${server.url}${path}`, { ...options, headers });
  const csv = (rows: number) =>
    `n,text\n${Array.from({ length: rows }, (_, n) => `${n},${'as long as a line '.repeat(3)}${n}`).join('\n')}\n`;
  const acme = await send('/tokens', {
    method: 'POST',
    body: JSON.stringify({ name: 'acme', role: 'write', tenant: 'acme' }),
  });
  const writer = { authorization: `Bearer ${(acme.json() as unknown as { token: string }).token}` };
  await ask(`${server.url}/imp?name=only`, { method: 'POST', body: 'a\n1\n', headers: writer });
  await send('/imp?name=large', { method: 'POST', body: csv(largeRows) });
  const cache = join(disk.path, 'cache');
  // Memory has no room for all of it: some rows are read from the files.
  await eventually(async () => {
    for (let row = 1; row < largeRows; row += 10_000)
      await send(`/exec?handle=large&fmt=json&limit=${row},${row + 9999}`);
    damage(cache);
    return /^framehold_disk_cache_damaged_total [1-9]/m.test((await send('/metrics')).text);
  });
  // Rows that are in the log, and a part that is to be compressed: neither finds room now.
  await send('/imp?name=large&append=true', { method: 'POST', body: 'n,text\n1,a\n' });
  await disk.leave(0);
  const flight = new FlightSqlClient(server.grpcPort, headers);
  const endless = 'SELECT count(*) FROM range(100_000_000_000) t(a) WHERE a % 3 = 1';
  const statements = setInterval(() => {
    flight.query(endless).catch(() => {});
    send(`/exec?query=${encodeURIComponent(endless)}&engine=local&fmt=json`).catch(() => {});
    send('/exec?query=select+1&engine=tsdb&fmt=json').catch(() => {});
  }, 300);
  const strikes = setInterval(() => {
    for (const child of childrenOf(server.pid).slice(0, 1)) process.kill(child, 'SIGKILL');
  }, 1500);
  const fault = await injectFault({
    processes: [server.pid],
    isAlone: true,
    call: 'fsync',
    when: '1+',
    traceFile: join(disk.path, '..', 'trace'),
  });
  await send('/imp?name=second', { method: 'POST', body: csv(10) });
  return async () => {
    clearInterval(statements);
    clearInterval(strikes);
    flight[Symbol.dispose]();
    await fault.end();
  };
}

/** Changes a byte of each file of the cache. Gives how many there were. */
function damage(cache: string): number {
  let files = 0;
  if (!existsSync(cache)) return files;
  for (const entry of readdirSync(cache, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name === 'state') continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    writeFileSync(path, bytes);
    files++;
  }
  return files;
}

/** It is read after that. */
async function damageFrame({ url }: SpawnedFramehold, dataDir: string, handle: string): Promise<void> {
  await ask(`${url}/imp?name=${handle}`, { method: 'POST', body: 'a\n1\n' });
  const path = join(dataDir, 'cold', `${handle}.parquet`);
  writeFileSync(path, readFileSync(path).subarray(1));
  await ask(`${url}/exp?handle=${handle}`);
}

/** A database that does not answer, a slow disk, a process that stands still, and limits. */
async function faultsOfSlow(server: SpawnedFramehold, folderPath: string): Promise<Ending> {
  const { url, pid } = server;
  await ask(`${url}/imp?name=ticks`, { method: 'POST', body: 'a\n1\n' });
  await damageFrame(server, folderPath, 'broken');
  const leaving = new AbortController();
  fetch(`${url}/handles/ticks/rows?live=sse`, { signal: leaving.signal }).catch(() => {});
  for (let n = 0; n < 3; n++) ask(`${url}/exec?query=select+1&engine=tsdb&fmt=json`).catch(() => {});
  // Again and again: it may have fewer open than a moment ago.
  const limits = setInterval(() => {
    execFileSync('prlimit', ['--pid', String(pid), `--nofile=${Math.ceil(openFilesOf(pid) * 1.1)}:`]);
  }, 500);
  const delayed = await injectFault({
    processes: [pid],
    isAlone: true,
    call: 'fsync',
    when: '1+',
    delayMs: 700,
    traceFile: join(folderPath, 'trace'),
  });
  const puts = setInterval(() => {
    ask(`${url}/imp?name=ticks&overwrite=true`, { method: 'POST', body: 'a\n1\n' }).catch(() => {});
  }, 500);
  const stops = setInterval(() => {
    server.kill('SIGSTOP');
    setTimeout(() => server.kill('SIGCONT'), 400);
  }, 1000);
  return async () => {
    clearInterval(limits);
    clearInterval(puts);
    clearInterval(stops);
    server.kill('SIGCONT');
    leaving.abort();
    await delayed.end();
  };
}
