import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('pyarrow.flight', 'pyarrow_cases');
