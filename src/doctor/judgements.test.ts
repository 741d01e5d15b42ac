import { describe, expect, it } from 'vitest';
import { type CertificateFacts, judgeCertificate } from './certificate.ts';
import { judgeClock } from './clock.ts';
import { judgeEngineProcess, judgeKernel } from './engine-process.ts';
import { judgeListener, type ListenerFacts } from './listeners.ts';
import { judgeNode, type NodeFacts } from './node-runtime.ts';

describe('Node.js', () => {
  const node: NodeFacts = { version: '22.20.0', range: '>=20.19 <27', platform: 'linux', arch: 'x64', glibc: '2.36' };

  it.each([
    ['20.19.0', 'ok'],
    ['26.1.0', 'ok'],
    ['20.18.3', 'fail'],
    ['18.20.0', 'fail'],
    ['27.0.0', 'fail'],
  ])('%s is %s', (version, level) => {
    expect(judgeNode({ ...node, version })).toMatchObject({ level });
  });

  it('fails on Linux without glibc, and is a note on other systems', () => {
    expect(judgeNode({ ...node, glibc: undefined })).toMatchObject({ level: 'fail' });
    expect(judgeNode({ ...node, platform: 'darwin', glibc: undefined })).toMatchObject({ level: 'note' });
  });
});

describe('the kernel', () => {
  const kernel = { platform: 'linux', release: '6.8.0-45-generic', isConfined: true, hasTenants: true };

  it.each([
    [{}, 'ok'],
    [{ release: '5.15.0' }, 'note'],
    [{ release: '4.18.0', isConfined: false }, 'warn'],
    [{ release: '4.18.0', isConfined: false, hasTenants: false }, 'note'],
    [{ isConfined: undefined }, 'note'],
  ])('with %j is %s', (facts, level) => {
    expect(judgeKernel({ ...kernel, ...facts })).toMatchObject({ level });
  });
});

it('a DuckDB process that does not start fails with its own words', () => {
  const problem = 'DuckDB has no library for linux-ia32';
  expect(judgeEngineProcess({ state: 'fails', problem })).toMatchObject({ level: 'fail', found: problem });
});

describe('the clock', () => {
  const nowMs = Date.UTC(2026, 5, 1);
  const clock = { nowMs, isSynchronised: true, others: [] };
  const ahead = (aheadMs: number) => ({ ...clock, others: [{ name: 'issuer main', aheadMs }] });

  it.each([
    ['synchronised', clock, 'ok'],
    ['not synchronised', { ...clock, isSynchronised: false }, 'warn'],
    ['of which nothing tells', { ...clock, isSynchronised: undefined }, 'note'],
    ['in 1970', { ...clock, nowMs: 0 }, 'fail'],
    ['800 ms off', ahead(800), 'ok'],
    ['20 s off', ahead(-20_000), 'warn'],
    ['two minutes off', ahead(120_000), 'fail'],
  ])('%s is %s', (_, facts, level) => {
    expect(judgeClock(facts)).toMatchObject({ level });
  });

  it('is told with the clock that differs most', () => {
    const others = [...ahead(120_000).others, { name: 'the file system', aheadMs: 1000 }];
    expect(judgeClock({ ...clock, others }).found).toContain('2 min 0 s behind issuer main');
  });
});

describe('a listener', () => {
  const listener: ListenerFacts = {
    name: 'http',
    address: { host: '0.0.0.0', port: 80 },
    setting: '--http-bind-address',
    problem: undefined,
  };

  it.each([
    [{}, 'ok', 'is free'],
    [{ problem: 'EADDRINUSE' }, 'fail', 'another program'],
    [{ problem: 'EADDRINUSE', owner: { pid: 7, command: 'nginx', isFramehold: false } }, 'fail', 'nginx (pid 7)'],
    [{ problem: 'EADDRINUSE', framehold: 'Framehold 1.0.0' }, 'note', 'Framehold 1.0.0'],
    [{ problem: 'EADDRINUSE', twin: 'grpc' as const }, 'fail', 'the grpc listener'],
    [{ problem: 'EACCES' }, 'fail', 'may not be bound by this user'],
    [{ problem: 'EADDRNOTAVAIL' }, 'fail', 'not an address of this machine'],
    [{ problem: 'ENOTFOUND' }, 'fail', 'does not resolve'],
    [{ problem: 'EMFILE' }, 'fail', 'EMFILE'],
  ])('with %j is %s: %s', (facts, level, text) => {
    expect(judgeListener({ ...listener, ...facts })).toMatchObject({ level, found: expect.stringContaining(text) });
  });
});

describe('a certificate', () => {
  const dayMs = 86_400_000;
  const nowMs = Date.UTC(2026, 5, 1);
  const facts = {
    ...{ state: 'usable' as const, certFile: 'tls.crt', keyFile: 'tls.key', nowMs, nodeVersion: '22.22.2' },
    ...{ endsMs: nowMs + 90 * dayMs, keyMode: 0o100600 },
  };

  it.each<[string, Partial<typeof facts>, string]>([
    ['for 90 days', {}, 'ok'],
    ['for 10 days', { endsMs: nowMs + 10 * dayMs }, 'warn'],
    ['of yesterday', { endsMs: nowMs - dayMs }, 'fail'],
    ['with a key that all can read', { keyMode: 0o100644 }, 'warn'],
    ['with a key that the group can read', { keyMode: 0o100640 }, 'ok'],
    ['on a Node.js without fixes', { nodeVersion: '22.1.0' }, 'warn'],
  ])('%s is %s', (_, some, level) => {
    expect(judgeCertificate({ ...facts, ...some } as CertificateFacts)).toMatchObject({ level });
  });
});
