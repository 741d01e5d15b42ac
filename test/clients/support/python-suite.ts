import { fileURLToPath } from 'node:url';
import { needed } from '../../support/missing.ts';
import { type CaseServer, caseSuite } from './case-suite.ts';
import { python } from './python.ts';

const folder = fileURLToPath(new URL('../python/', import.meta.url));

/** The cases of `python/<module>.py`. */
export async function pythonSuite(client: string, module: string, start?: () => Promise<CaseServer>): Promise<void> {
  const interpreter = await needed(client, python);
  const { source, command } = pythonCases(interpreter, module);
  caseSuite({ client, source, command, ...(start && { start }) });
}

export function pythonCases<T extends string | undefined>(interpreter: T, module: string) {
  const command = interpreter === undefined ? undefined : [interpreter, '-B', `${folder}run_cases.py`, module];
  return { source: `${folder}${module}.py`, command };
}
