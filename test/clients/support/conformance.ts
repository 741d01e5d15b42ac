import { readFileSync } from 'node:fs';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface ConformanceStep {
  readonly op: string;
  readonly args: Readonly<Record<string, Json>>;
  readonly answer?: Json;
  readonly error?: { readonly code: string; readonly status?: number; readonly position?: number };
}

export interface ConformanceCase {
  readonly name: string;
  readonly steps: readonly ConformanceStep[];
}

/** The cases of `clients/conformance.json`. `prefix` stands before the handles of this run. */
export function conformanceCases(prefix: string): readonly ConformanceCase[] {
  const text = readFileSync(new URL('../../../clients/conformance.json', import.meta.url), 'utf8');
  return JSON.parse(text.replaceAll('<h>', prefix)) as readonly ConformanceCase[];
}

/** What differs between an answer and the expected one, or undefined. */
export function difference(expected: Json | undefined, actual: Json | undefined, path = 'answer'): string | undefined {
  const differs = `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
  if (expected === undefined) return undefined;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return differs;
    return first(expected.map((item: Json, at) => difference(item, actual[at] as Json, `${path}[${at}]`)));
  }
  if (typeof expected !== 'object' || expected === null) return expected === actual ? undefined : differs;
  if ('is' in expected) return isKind(expected.is, actual) ? undefined : differs;
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return differs;
  const object = actual as Readonly<Record<string, Json>>;
  return first(Object.entries(expected).map(([key, value]) => difference(value, object[key], `${path}.${key}`)));
}

function isKind(kind: Json | undefined, value: Json | undefined): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'number') return typeof value === 'number';
  return kind === 'null' && value === null;
}

function first(differences: readonly (string | undefined)[]): string | undefined {
  return differences.find((each) => each !== undefined);
}
