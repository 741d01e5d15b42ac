import { join } from 'node:path';
import { buildWheel, installWheel, packageTools } from '../../test/clients/support/python-package.ts';
import { Missing } from '../../test/support/missing.ts';
import { RivalUnavailable } from '../rivals/unavailable.ts';

/** Builds the package `framehold` and installs it into a folder. Gives the interpreter that has it, and all that it can be used with. */
export async function pythonPackage(folder: string): Promise<string> {
  try {
    const tools = await packageTools();
    const wheel = await buildWheel(tools, join(folder, 'built'));
    return await installWheel(tools, { folder: join(folder, 'installed'), wheel, packages: 'all' });
  } catch (error) {
    throw error instanceof Missing ? new RivalUnavailable(error.message) : error;
  }
}
