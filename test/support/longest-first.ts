import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** In seconds, of files that take at least three. Written by `KEEP_DURATIONS=true npm test`. */
export const fileDurations: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('../file-durations.json', import.meta.url), 'utf8'),
);

/** Files that take longest begin first, so that none of them is alone at the end. Vitest knows durations only from an earlier run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Those of one project together, which share processes.
    const projects = await super.sort(files);
    const order = [...new Set(projects.map(({ project }) => project.name))];
    const pathOf = ({ moduleId }: TestSpecification): string => relative(this.ctx.config.root, moduleId);
    // What these promise takes time: they wait until the compiler and the engines of a cluster have started.
    const isLate = (file: TestSpecification): boolean => pathOf(file).startsWith('test/faults/');
    const seconds = (file: TestSpecification): number => fileDurations[pathOf(file)] ?? 0;
    const compare = (one: TestSpecification, other: TestSpecification): number =>
      Number(isLate(one)) - Number(isLate(other)) || seconds(other) - seconds(one);
    return order.flatMap((name) => projects.filter(({ project }) => project.name === name).sort(compare));
  }
}
