import { expect, it } from 'vitest';
import { compareVersions, parseVersion } from './version.ts';

it('orders versions as Semantic Versioning does', () => {
  const ordered = [
    ...[
      '0.1.0-alpha',
      '0.1.0-alpha.1',
      '0.1.0-alpha.beta',
      '0.1.0-beta',
      '0.1.0-beta.2',
      '0.1.0-beta.11',
      '0.1.0-rc.1',
    ],
    ...['0.1.0', '0.1.1', '0.2.0', '0.10.0', '1.0.0'],
  ];
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered);
  expect(compareVersions('1.2.3', '1.2.3')).toBe(0);
});

it.each(['', '1', '1.2', 'v1.2.3', '01.2.3', '1.2.3-', '1.2.3-rc..1', '1.2.3-01', '1.2.3+build', 'latest'])(
  'refuses "%s" as a version',
  (text) => {
    expect(() => parseVersion(text)).toThrow(`"${text}" is no version; write one such as 0.2.0 or 0.2.0-rc.1`);
  },
);
