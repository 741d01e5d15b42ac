// Writes the pages of docs/reference, and the files of the console and of a client, that are made from tables in the code, and NOTICE. `node scripts/generate-docs.mjs`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { consolePackages } from './build-console.mjs';

const { renderHttpPage } = await tsImport('./reference/http-page.ts', import.meta.url);
const { clientTypes } = await tsImport('./reference/client-types.ts', import.meta.url);
const { cliPage } = await tsImport('./reference/cli-page.ts', import.meta.url);
const { functionsModule } = await tsImport('./reference/functions-module.ts', import.meta.url);
const { metricsPage } = await tsImport('./reference/metrics-page.ts', import.meta.url);
const { shippedComponents } = await tsImport('./release/components.ts', import.meta.url);
const { noticeText } = await tsImport('./release/notice.ts', import.meta.url);
const { settingsPage } = await tsImport('./reference/settings-page.ts', import.meta.url);

const pages = {
  'docs/reference/cli.md': cliPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/settings.md': settingsPage,
  'console/sql/editor/functions.ts': functionsModule,
};

const httpPage = new URL('../docs/reference/http.md', import.meta.url);
const document = await openApiDocument();
writeFileSync(httpPage, renderHttpPage(readFileSync(httpPage, 'utf8'), document));
writeFileSync(new URL('../clients/typescript/src/api.ts', import.meta.url), clientTypes(document));

for (const [path, render] of Object.entries(pages)) {
  writeFileSync(new URL(`../${path}`, import.meta.url), render());
}

const root = fileURLToPath(new URL('../', import.meta.url));
const components = shippedComponents(root, await consolePackages(root));
writeFileSync(`${root}NOTICE`, noticeText(components));

/** As a running server gives it, with the routes of authentication. */
async function openApiDocument() {
  const { loadConfig } = await tsImport('../src/config/load-config.ts', import.meta.url);
  const { startServer } = await tsImport('../src/server/start-server.ts', import.meta.url);
  const { silentLogger } = await tsImport('../src/core/logs/logger.ts', import.meta.url);
  const dataDir = mkdtempSync(join(tmpdir(), 'framehold-docs-'));
  try {
    const argv = ['--data-dir', dataDir, '--http-bind-address', '127.0.0.1:0', '--grpc-port', '0'];
    argv.push('--auth-enabled', '--auth-anonymous=default:read');
    const sources = { argv, env: {}, homeDir: dataDir, cwd: dataDir, coreCount: 1, readFile: () => undefined };
    const server = await startServer(loadConfig(sources).config, silentLogger);
    const { host, port } = server.httpAddress;
    const document = await (await fetch(`http://${host}:${port}/openapi.json`)).json();
    await server[Symbol.asyncDispose]();
    return document;
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
