import { didYouMean } from '../core/text/did-you-mean.ts';
import { environmentPrefixes, namedTables } from './named-tables.ts';
import { configFileNames, settingRows } from './setting-rows.ts';
import { UsageError } from './usage-error.ts';

const prefix = 'FRAMEHOLD_';

const settingNames = [...settingRows, configFileNames]
  .flatMap(({ envNames }) => envNames)
  .filter((name) => name.startsWith(prefix));

/** Variables that are no settings: the token of the commands, and those of our own tests. */
const otherNames = ['FRAMEHOLD_TOKEN', 'FRAMEHOLD_CHROME', 'FRAMEHOLD_FIREFOX'];
const namedPrefixes = [...namedTables.flatMap(environmentPrefixes), 'FRAMEHOLD_TEST_'];

const known: ReadonlySet<string> = new Set([...settingNames, ...otherNames]);

/** Variables that Kubernetes and Docker set in each container for a service `framehold` or `framehold-…`. */
const serviceLink =
  /^FRAMEHOLD_(?:\w+_)?(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)?|NAME)$/;

/** Refuses a variable with our prefix that no setting has: it was meant for one. */
export function checkVariables(env: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text = ''] of Object.entries(env)) {
    if (!name.startsWith(prefix) || text.trim() === '' || known.has(name)) continue;
    if (serviceLink.test(name) || namedPrefixes.some((each) => name.startsWith(each))) continue;
    throw new UsageError(`unknown variable ${name} in the environment${hintFor(name)}`);
  }
}

/** Some variables are shorter than section and key of their setting. */
function hintFor(name: string): string {
  const row = settingRows.find(({ key }) => `${prefix}${key.replace('.', '_').toUpperCase()}` === name);
  if (row !== undefined) return `; ${row.key} is ${row.envNames[0]}`;
  return didYouMean(name, [...settingNames, 'FRAMEHOLD_TOKEN']) || '; `framehold server --help` lists them';
}
