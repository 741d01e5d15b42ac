import { fileURLToPath } from 'node:url';
import { needed } from '../support/missing.ts';
import { caseSuite } from './support/case-suite.ts';
import { javaCases } from './support/jdbc-driver.ts';

const client = 'tools over JDBC';
const source = fileURLToPath(new URL('java/ToolCases.java', import.meta.url));

const java = await needed(client, () => javaCases({ withTools: true }));

caseSuite({ client, source, command: java && [...java, '-Duser.timezone=UTC', source] });
