import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('types', 'types_cases');
