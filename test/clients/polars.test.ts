import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('polars', 'polars_cases');
