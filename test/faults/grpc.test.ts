import { grpcScenarios } from './grpc/grpc-scenarios.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('gRPC clients that mean harm', grpcScenarios);
