import { type CheckName, checks } from './checks.ts';

/**
 * `note`: it works, with a fact to know. `warn`: it works under small load only, or in part. `fail`: the server does not start,
 * or cannot work.
 */
export const levels = ['ok', 'note', 'warn', 'fail'] as const;

export type Level = (typeof levels)[number];

/** The result of a check. */
export interface Finding {
  readonly check: CheckName;
  readonly level: Level;
  /** With its measured value. */
  readonly found: string;
  /** The consequence, and the remedy: if it is not ok. */
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
