import { readFileSync } from 'node:fs';

/** The names of the cases in a source file: `@case("…")` in Python, `@Case("…")` in Java. */
export function caseNames(path: string): readonly string[] {
  const names = [...readFileSync(path, 'utf8').matchAll(/^ *@[cC]ase\("([^"\\\n]+)"\)$/gm)].map(
    (match) => match[1] ?? '',
  );
  if (names.length === 0) throw new Error(`${path} has no cases`);
  if (new Set(names).size !== names.length) throw new Error(`${path} has two cases of one name`);
  return names;
}
