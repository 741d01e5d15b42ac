import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('grpcio', 'grpc_services_cases');
