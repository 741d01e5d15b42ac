// Makes a release: `npm run release -- 0.2.0 [--dry-run] [--skip-audit]`. CONTRIBUTING.md describes it.
import { parseArgs } from 'node:util';
import { root } from './prepare.mjs';

const usage = 'usage: npm run release -- VERSION [--dry-run] [--skip-audit]';

// Ctrl-C reaches npm, too. The release fails with it, and undoes its changes.
process.on('SIGINT', () => {});

try {
  const { version, dryRun, skipAudit } = parseCommand();
  const { tsImport } = await import('tsx/esm/api');
  const { consolePackages } = await import('./build-console.mjs');
  const { release } = await tsImport('./release/release.ts', import.meta.url);
  const { interpreter, packageTools } = await tsImport('../test/clients/support/python-package.ts', import.meta.url);
  const report = (line) => console.log(line);
  const found = { consolePackages: await consolePackages(root), python: interpreter(await packageTools()) };
  await release({ root, version, dryRun, skipAudit, report, ...found });
} catch (error) {
  const remedy = error.code === 'ERR_MODULE_NOT_FOUND' ? '; run npm ci first' : '';
  console.error(`release: ${error.message}${remedy}`);
  process.exit(1);
}

function parseCommand() {
  const options = { 'dry-run': { type: 'boolean' }, 'skip-audit': { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version] = positionals;
  if (version === undefined || positionals.length > 1) throw new Error(`one version is needed; ${usage}`);
  // Without `--` before it npm takes the flag for its own.
  const dryRun = values['dry-run'] === true || process.env.npm_config_dry_run === 'true';
  return { version, dryRun, skipAudit: values['skip-audit'] === true };
}
