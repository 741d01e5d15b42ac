import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('dlt', 'dlt_cases');
