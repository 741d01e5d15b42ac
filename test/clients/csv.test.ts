import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('csv', 'csv_cases');
