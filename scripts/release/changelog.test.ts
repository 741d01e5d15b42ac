import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { releasedChangelog } from './changelog.ts';

const before = `# Changelog

## [Unreleased]

### Added

- A thing.

## [0.1.0] - 2026-01-02

- All of it.
`;

it('gives the entries of [Unreleased] to the version, below a new empty [Unreleased]', () => {
  expect(releasedChangelog(before, '0.2.0', '2026-03-04')).toBe(
    before.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n'),
  );
});

it('leaves a changelog as it is whose newest section is that of the version, below an empty [Unreleased]', () => {
  const cut = releasedChangelog(before, '0.2.0', '2026-03-04');
  expect(releasedChangelog(cut, '0.2.0', '2026-03-09')).toBe(cut);
  const behind = cut.replace('## [Unreleased]\n', '## [Unreleased]\n\n- One more thing.\n');
  expect(() => releasedChangelog(behind, '0.2.0', '2026-03-09')).toThrow('CHANGELOG.md has a section [0.2.0] already');
});

it('refuses a second release without an entry between, and a version that has a section', () => {
  const after = releasedChangelog(before, '0.2.0', '2026-03-04');
  expect(() => releasedChangelog(after, '0.3.0', '2026-03-05')).toThrow(
    '[Unreleased] of CHANGELOG.md has no entry; write what the release changes',
  );
  expect(() => releasedChangelog(before, '0.1.0', '2026-03-05')).toThrow('CHANGELOG.md has a section [0.1.0] already');
  expect(() => releasedChangelog('# Changelog\n', '0.2.0', '2026-03-05')).toThrow(
    'CHANGELOG.md has no line "## [Unreleased]"',
  );
});

it('CHANGELOG.md says nothing twice, as it does when a merge keeps both sides', () => {
  const text = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const sentences = text.split(/(?<=[.;:])\s+/).filter((sentence) => sentence.length > 40);
  expect(sentences.filter((sentence, at) => sentences.indexOf(sentence) !== at)).toEqual([]);
});
