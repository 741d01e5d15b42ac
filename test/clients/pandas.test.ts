import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('pandas', 'pandas_cases');
