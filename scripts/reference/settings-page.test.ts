import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { settingRows } from '../../src/config/setting-rows.ts';
import { settingsPage } from './settings-page.ts';

const page = readFileSync(new URL('../../docs/reference/settings.md', import.meta.url), 'utf8');

function loadToml(toml: string, argv: readonly string[] = [], env: Record<string, string> = {}) {
  return loadConfig({
    argv,
    env,
    homeDir: '/home/ada',
    cwd: '/',
    coreCount: 4,
    stderrIsTerminal: false,
    readFile: () => toml,
  });
}

function sampleOnPage(): string {
  return /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
}

it('docs/reference/settings.md is what the table makes (else: node scripts/generate-docs.mjs)', () => {
  expect(page).toBe(settingsPage());
});

it('the page names every flag, environment name and TOML key', () => {
  for (const { key, flag, envNames } of settingRows) {
    for (const name of [key, flag, ...envNames]) expect(page).toContain(`\`${name}\``);
  }
});

it('the sample config.toml on the page loads, and changes no default', () => {
  expect(loadToml(sampleOnPage()).config).toEqual(loadToml('').config);
});

/** Of each kind one is enough, and more than one is refused. */
const alternatives = ['auth.issuers.corp.tenant_claim', 'auth.certificates.etl.dns', 'auth.certificates.etl.cn'];

it('the sample config.toml loads with its comments taken away too, and then sets everything', () => {
  const left = alternatives.map((key) => key.split('.').at(-1)).join('|');
  const whole = sampleOnPage()
    .replace(/^# /gm, '')
    .replace(/^\[auth\]\nenabled = false/m, '[auth]\nenabled = true')
    .replace(/^client_auth = "off"/m, 'client_auth = "required"')
    .replace(new RegExp(`^(${left}) = .*\n`, 'gm'), '');
  const { settings } = loadToml(whole);
  const unset = settings.filter(({ origin }) => origin === 'default').map(({ key }) => key);
  expect(unset.sort()).toEqual([...alternatives].sort());
});

it('the examples of precedence on the page are true', () => {
  const rows = [...page.matchAll(/^\| `(.*)framehold server ?(.*)` \| (\d+) \|$/gm)];
  expect(rows).toHaveLength(5);
  for (const [, assignments = '', flags = '', port] of rows) {
    const env = Object.fromEntries(
      assignments
        .split(' ')
        .filter(Boolean)
        .map((each) => each.split('=')),
    );
    const { config } = loadToml('[server]\ngrpc_port = 1111', flags.split(' ').filter(Boolean), env);
    expect(config.server.grpcPort).toBe(Number(port));
  }
});

it('the complaint on the page is the real one', () => {
  const complaint = /framehold: (server\.grpc_port is .*)/.exec(page)?.[1];
  expect(() => loadToml('', [], { FRAMEHOLD_GRPC_PORT: '70000' })).toThrow(complaint);
});
