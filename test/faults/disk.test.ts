import { diskScenarios } from './disk/disk-scenarios.ts';
import { testScenarios } from './harness/test-scenarios.ts';

await testScenarios('disks, files and clocks', diskScenarios);
