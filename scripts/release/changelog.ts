const unreleased = '## [Unreleased]';

/** The changelog after a release: the entries of [Unreleased] belong to the version, and a new empty [Unreleased] is above it. */
export function releasedChangelog(text: string, version: string, date: string): string {
  const lines = text.split('\n');
  if (lines.some((line) => line.startsWith(`## [${version}]`)))
    throw new Error(`CHANGELOG.md has a section [${version}] already`);
  const start = lines.indexOf(unreleased);
  if (start < 0) throw new Error(`CHANGELOG.md has no line "${unreleased}"`);
  const end = lines.findIndex((line, at) => at > start && line.startsWith('## '));
  const entries = lines.slice(start + 1, end < 0 ? undefined : end);
  if (!entries.some((line) => line.startsWith('- ')))
    throw new Error('[Unreleased] of CHANGELOG.md has no entry; write what the release changes');
  return [...lines.slice(0, start), unreleased, '', `## [${version}] - ${date}`, ...lines.slice(start + 1)].join('\n');
}
