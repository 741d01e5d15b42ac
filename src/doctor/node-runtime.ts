import { isInRange } from '../core/system/node-range.ts';
import { type Finding, notOk, ok } from './finding.ts';

export interface NodeFacts {
  /** `20.20.2` */
  readonly version: string;
  /** `>=20.19 <27` */
  readonly range: string;
  readonly platform: string;
  readonly arch: string;
  /** Undefined: another C library, or not Linux. */
  readonly glibc: string | undefined;
}

export function nodeFacts(range: string): NodeFacts {
  const { platform, arch, versions } = process;
  return { version: versions.node, range, platform, arch, glibc: platform === 'linux' ? glibcVersion() : undefined };
}

function glibcVersion(): string | undefined {
  const { report } = process;
  if (report === undefined) return undefined;
  // Otherwise it looks up the names of all addresses, which may take long.
  (report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { header } = report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
}

export function judgeNode({ version, range, platform, arch, glibc }: NodeFacts): Finding {
  const library = glibc === undefined ? '' : `, glibc ${glibc}`;
  const found = `Node.js ${version}, ${platform}-${arch}${library}`;
  if (!isInRange(version, range)) {
    return notOk('fail', 'node', found, 'this version is not supported', `use Node.js ${range}`);
  }
  if (platform === 'linux' && glibc === undefined) {
    const remedy = 'use a system with glibc, such as Debian, Ubuntu or a Red Hat system, not Alpine';
    return notOk('fail', 'node', found, 'this system has no glibc, without which DuckDB has no library', remedy);
  }
  if (platform !== 'linux') {
    const meaning = 'only Linux limits the memory of DuckDB processes and confines SQL of callers';
    return notOk('note', 'node', found, meaning, 'use Linux for production');
  }
  return ok('node', found);
}
