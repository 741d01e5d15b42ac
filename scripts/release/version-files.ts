/** Files that name the version of the program, or of a package beside it. A release changes them, and the changelog. */
export const versionFiles = [
  'package.json',
  'package-lock.json',
  'clients/typescript/package.json',
  'clients/python/pyproject.toml',
  'deploy/compose.yaml',
  'deploy/kubernetes/deployment.yaml',
  'deploy/kubernetes/kustomization.yaml',
  'docs/guides/getting-started.md',
  'docs/guides/operating.md',
  'docs/reference/http.md',
] as const;

/** One of these files with another version. What has a version of its own, such as a dependency, keeps it. */
export function withVersion(path: string, text: string, from: string, to: string): string {
  if (path.endsWith('.json')) return withJsonVersion(text, to);
  if (path.endsWith('.toml')) return text.replace(/^version = ".*"$/m, `version = "${to}"`);
  return text
    .replaceAll(`framehold:${from}`, `framehold:${to}`)
    .replaceAll(`newTag: "${from}"`, `newTag: "${to}"`)
    .replaceAll(`{"version":"${from}"`, `{"version":"${to}"`)
    .replaceAll(`Framehold ${from}\n`, `Framehold ${to}\n`);
}

function withJsonVersion(json: string, version: string): string {
  const parsed = JSON.parse(json) as { version: string; packages?: Record<string, { version?: string }> };
  parsed.version = version;
  const own = parsed.packages?.[''];
  if (own !== undefined) own.version = version;
  return `${JSON.stringify(parsed, null, 2)}\n`;
}
