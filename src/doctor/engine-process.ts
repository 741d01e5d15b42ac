import { type Finding, notOk, ok } from './finding.ts';

/** The result of starting a DuckDB process that is confined like those for SQL of tenants. */
export type EngineProcessFacts =
  | { readonly state: 'works'; readonly version: string; readonly isConfined: boolean; readonly startMs: number }
  | { readonly state: 'fails'; readonly problem: string };

export interface KernelFacts {
  readonly platform: string;
  /** `6.1.0-18-amd64` */
  readonly release: string;
  /** Undefined where no DuckDB process starts. */
  readonly isConfined: boolean | undefined;
  /** Whether tenants are isolated. */
  readonly hasTenants: boolean;
}

/** Before this version of Linux, Landlock has no rules for the network. */
const networkSince = [6, 7] as const;

export function judgeEngineProcess(facts: EngineProcessFacts): Finding {
  if (facts.state === 'works') {
    return ok('duckdb', `DuckDB ${facts.version} answers; its process started in ${Math.round(facts.startMs)} ms`);
  }
  const remedy = 'run npm ci on this machine; where a sandbox forbids system calls, allow fork, prctl and Landlock';
  return notOk('fail', 'duckdb', facts.problem, 'frames can be neither written nor read', remedy);
}

export function judgeKernel({ platform, release, isConfined, hasTenants }: KernelFacts): Finding {
  const system = platform === 'linux' ? `Linux ${release}` : platform;
  if (isConfined === undefined) return notOk('note', 'kernel', system, 'not known, because no DuckDB process starts');
  if (!isConfined) {
    return notOk(
      hasTenants ? 'warn' : 'note',
      'kernel',
      `${system}, without Landlock`,
      hasTenants
        ? 'only DuckDB itself keeps the SQL of a tenant from the files of others'
        : 'only DuckDB itself keeps SQL from files that are not frames',
      'use Linux 5.13 or later, with landlock in /sys/kernel/security/lsm',
    );
  }
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10));
  const found = `${system}, with Landlock`;
  if (major > networkSince[0] || (major === networkSince[0] && minor >= networkSince[1])) return ok('kernel', found);
  const meaning = 'its rules leave out the network: only DuckDB itself keeps SQL from that';
  return notOk('note', 'kernel', found, meaning, `use Linux ${networkSince.join('.')} or later`);
}
