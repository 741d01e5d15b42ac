import type { Scenario } from '../harness/scenario.ts';
import { fullDisk } from './full-disk.ts';
import { fullDiskWork } from './full-disk-work.ts';
import { mutatedFiles } from './mutated-files.ts';
import { noMoreFiles } from './no-more-files.ts';

/** What goes wrong with disks, files and clocks. */
export const diskScenarios: readonly Scenario[] = [fullDisk, fullDiskWork, noMoreFiles, mutatedFiles];
