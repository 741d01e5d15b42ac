import type { Scenario } from '../harness/scenario.ts';
import { extremeSizes } from './extreme-sizes.ts';
import { failingDiskCache } from './failing-disk-cache.ts';
import { fullDisk } from './full-disk.ts';
import { fullDiskChanges } from './full-disk-changes.ts';
import { fullDiskWork } from './full-disk-work.ts';
import { links } from './links.ts';
import { lookAlikes } from './look-alikes.ts';
import { manyFrames } from './many-frames.ts';
import { mutatedAtRest } from './mutated-at-rest.ts';
import { mutatedDatabases } from './mutated-databases.ts';
import { mutatedDiskCache } from './mutated-disk-cache.ts';
import { mutatedFiles } from './mutated-files.ts';
import { noMoreFiles } from './no-more-files.ts';
import { readOnlyDirectory } from './read-only-directory.ts';
import { setClock } from './set-clock.ts';

/** What goes wrong with disks, files and clocks. */
export const diskScenarios: readonly Scenario[] = [
  fullDisk,
  fullDiskWork,
  fullDiskChanges,
  noMoreFiles,
  readOnlyDirectory,
  mutatedFiles,
  mutatedAtRest,
  mutatedDatabases,
  mutatedDiskCache,
  failingDiskCache,
  setClock,
  links,
  lookAlikes,
  extremeSizes,
  manyFrames,
];
