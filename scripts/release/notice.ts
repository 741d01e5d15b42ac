import type { Component } from './components.ts';

const rule = '-'.repeat(80);

/** NOTICE: the work of others in the package and beside it, with their licences. */
export function noticeText(components: readonly Component[]): string {
  const row = ({ name, version, licence }: Component): string => `- ${name} ${version} (${licence})`;
  const rowsOf = (place: Component['place'], shown: (component: Component) => string[]): string[] =>
    components.filter((component) => component.place === place).flatMap(shown);
  const withPlatforms = (component: Component): string[] => [
    row(component),
    ...component.platformPackages.map((name) => `  - ${name}`),
  ];
  return `${[
    'Framehold',
    '',
    'Framehold is licensed under the Apache License, Version 2.0 (see LICENSE). It uses the work of others.',
    '',
    'npm installs these packages with it. Of indented packages, which hold binaries, it installs those of the platform;',
    'they have the version and the licence of the package above them:',
    '',
    ...rowsOf('installed', withPlatforms),
    '',
    "DuckDB's library in these packages contains further works; their licences are in the folder third_party of its sources.",
    '',
    'dist/worker.js contains code of these packages, and npm installs their indented packages in the same way:',
    '',
    ...rowsOf('program', withPlatforms),
    '',
    'The files of the console (dist/console) contain code of these packages:',
    '',
    ...rowsOf('console', (component) => [row(component)]),
    '',
    'The licences:',
    '',
    ...licences(components),
  ].join('\n')}`;
}

/** Each text once, with the names of all packages that have it. */
function licences(components: readonly Component[]): string[] {
  const namesOf = new Map<string, string[]>();
  for (const { name, licenceText } of components) namesOf.set(licenceText, [...(namesOf.get(licenceText) ?? []), name]);
  return [...namesOf].flatMap(([text, names]) => [rule, names.join(', '), rule, '', text, '']);
}
