import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('grpcio-health-checking', 'health_cases');
