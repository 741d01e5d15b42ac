import { type CheckName, checks } from './checks.ts';

/**
 * `note`: it works, and there is something to know. `warn`: it works until more is asked of it, or not all of it works.
 * `fail`: the server does not start, or cannot do its work.
 */
export const levels = ['ok', 'note', 'warn', 'fail'] as const;

export type Level = (typeof levels)[number];

/** What a check has found. */
export interface Finding {
  readonly check: CheckName;
  readonly level: Level;
  /** With its measured value. */
  readonly found: string;
  /** What it means, and what to do about it: where it is not ok. */
  readonly meaning?: string;
  readonly remedy?: string;
}

export function ok(check: CheckName, found: string): Finding {
  return { check, level: 'ok', found };
}

/** Without a remedy where there is nothing to do. */
export function notOk(
  level: Exclude<Level, 'ok'>,
  check: CheckName,
  found: string,
  meaning: string,
  remedy?: string,
): Finding {
  return { check, level, found, meaning, ...(remedy !== undefined && { remedy }) };
}

/** `warn  memory  2.0 GB: what it means (what to do)` */
export function findingLine({ check, level, found, meaning, remedy }: Finding): string {
  const rest = meaning === undefined ? '' : `: ${meaning}${remedy === undefined ? '' : ` (${remedy})`}`;
  return `${level.padEnd(4)}  ${check.padEnd(nameWidth)}  ${found}${rest}`;
}

/** In the order of the table of checks. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const names = Object.keys(checks);
  return [...findings].sort((one, other) => names.indexOf(one.check) - names.indexOf(other.check));
}

export function countLevels(findings: readonly Finding[]): Readonly<Record<Level, number>> {
  const count = (level: Level): number => findings.filter((each) => each.level === level).length;
  return { ok: count('ok'), note: count('note'), warn: count('warn'), fail: count('fail') };
}

const nameWidth = Math.max(...Object.keys(checks).map(({ length }) => length));
