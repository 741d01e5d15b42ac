import { fileURLToPath } from 'node:url';
import { needed } from '../../support/missing.ts';
import { caseSuite } from './case-suite.ts';
import { python } from './python.ts';

const folder = fileURLToPath(new URL('../python/', import.meta.url));

/** The cases of `python/<module>.py`. */
export async function pythonSuite(client: string, module: string): Promise<void> {
  const interpreter = await needed(client, python);
  const command = interpreter === undefined ? undefined : [interpreter, '-B', `${folder}run_cases.py`, module];
  caseSuite({ client, source: `${folder}${module}.py`, command });
}
