import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isInRange } from '../../src/core/system/node-range.ts';
import { needed } from '../support/missing.ts';
import { readYaml, validators } from './validators.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const workflow = '.github/workflows/ci.yml';
const tools = await needed('the files of .github', validators);

interface Workflow {
  readonly jobs: {
    readonly suite: {
      readonly strategy: { readonly matrix: { readonly node: readonly number[] } };
      readonly steps: readonly { readonly run?: string; readonly with?: Readonly<Record<string, string>> }[];
    };
  };
}

test.skipIf(tools === undefined).each([
  ['github-workflows', workflow],
  ['github-issue-forms', '.github/ISSUE_TEMPLATE/bug.yml'],
  ['github-issue-forms', '.github/ISSUE_TEMPLATE/feature.yml'],
  ['github-issue-config', '.github/ISSUE_TEMPLATE/config.yml'],
])('what is at the place of %s is one: %s', async (schema, path) => {
  const command = join(tools ?? '', 'check-jsonschema');
  const { stdout } = await promisify(execFile)(command, ['--builtin-schema', `vendor.${schema}`, join(root, path)]);
  expect(stdout).toContain('ok');
});

test.skipIf(tools === undefined)('hosted CI runs the whole suite on each line of Node.js that tests have', async () => {
  const [documents = []] = await readYaml(tools ?? '', [join(root, workflow)]);
  const { strategy, steps } = (documents[0] as Workflow).jobs.suite;
  const packages = JSON.parse(readFileSync(join(root, 'test/node-versions/package.json'), 'utf8')) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  const tested = Object.keys(packages.optionalDependencies).map((name) => Number(/\d+/.exec(name)?.[0]));
  const supported = [...new Set(tested)].filter((major) => isInRange(`${major}.99.0`, engines.node));
  expect(strategy.matrix.node).toEqual(supported);
  expect(steps.some(({ run }) => run?.endsWith(' .ci/run'))).toBe(true);
  accessSync(join(root, '.ci/run'), constants.X_OK);
  expect(steps.map((step) => step.with?.path)).toContain('~/.cache/framehold');
  expect(readFileSync(join(root, workflow), 'utf8')).not.toMatch(/https?:|registry/);
});
