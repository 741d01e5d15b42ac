const pattern = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

interface Version {
  readonly numbers: readonly number[];
  /** Of a pre-release such as 0.2.0-rc.1. */
  readonly labels: readonly string[];
}

/** Of Semantic Versioning, without build metadata, which npm ignores. */
export function parseVersion(text: string): Version {
  const [, major, minor, patch, label] = pattern.exec(text) ?? [];
  const labels = label?.split('.') ?? [];
  if (major === undefined || labels.some((each) => /^0\d+$/.test(each)))
    throw new Error(`"${text}" is no version; write one such as 0.2.0 or 0.2.0-rc.1`);
  return { numbers: [major, minor, patch].map(Number), labels };
}

/** Below 0 where `a` is the lower one, above 0 where it is the higher one. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  const differences = left.numbers.map((number, at) => number - (right.numbers[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? compareLabels(left.labels, right.labels);
}

/** A pre-release is lower than its release; numbers are lower than words. */
function compareLabels(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const [left = '', right = ''] = [a[at], b[at]];
    if (left === right) continue;
    const [leftIsNumber, rightIsNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (leftIsNumber && rightIsNumber) return Number(left) - Number(right);
    if (leftIsNumber !== rightIsNumber) return leftIsNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
