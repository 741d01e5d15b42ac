import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { versionFiles, withVersion } from './version-files.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json')) as { version: string };

it.each(versionFiles)('%s names the version of package.json, and another one after a release', (path) => {
  const text = read(path);
  expect(withVersion(path, text, version, version)).toBe(text);
  const released = withVersion(path, text, version, '98.7.6');
  expect(released).not.toBe(text);
  expect(withVersion(path, released, '98.7.6', version)).toBe(text);
});
