const unreleased = '## [Unreleased]';

/**
 * The changelog after a release: the entries of [Unreleased] belong to the version, and a new empty [Unreleased] is above it.
 * It stays as it is where that was done by hand.
 */
export function releasedChangelog(text: string, version: string, date: string): string {
  const lines = text.split('\n');
  const start = lines.indexOf(unreleased);
  if (start < 0) throw new Error(`CHANGELOG.md has no line "${unreleased}"`);
  const end = lines.findIndex((line, at) => at > start && line.startsWith('## '));
  const hasEntries = lines.slice(start + 1, end < 0 ? undefined : end).some((line) => line.startsWith('- '));
  if (!hasEntries && lines[end]?.startsWith(`## [${version}] - `)) return text;
  if (lines.some((line) => line.startsWith(`## [${version}]`)))
    throw new Error(`CHANGELOG.md has a section [${version}] already`);
  if (!hasEntries) throw new Error('[Unreleased] of CHANGELOG.md has no entry; write what the release changes');
  return [...lines.slice(0, start), unreleased, '', `## [${version}] - ${date}`, ...lines.slice(start + 1)].join('\n');
}
