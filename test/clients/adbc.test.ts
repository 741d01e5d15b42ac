import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('adbc-driver-flightsql', 'adbc_cases');
