/** Whether a version of Node.js is in a range such as `>=20.19 <27`. Also compiled for the oldest Node.js. */
export function isInRange(version: string, range: string): boolean {
  const [, least = '0', end = 'Infinity'] = /^>=([\d.]+) <(\d+)$/.exec(range) ?? [];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  return (major > leastMajor || (major === leastMajor && minor >= leastMinor)) && major < Number(end);
}
