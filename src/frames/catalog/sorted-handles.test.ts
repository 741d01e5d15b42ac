import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Handle } from '../../core/names/handle.ts';
import { SortedHandles } from './sorted-handles.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '.', '~'), maxLength: 4 });

test('lists what a sorted and filtered list of all would have', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), text)), fc.array(fc.tuple(text, text)), (changes, questions) => {
      const all = new Set<Handle>();
      const sorted = new SortedHandles(() => all);
      for (const [adds, name] of changes) {
        const handle = name as Handle;
        if (adds && !all.has(handle)) sorted.add(handle);
        if (!adds) sorted.delete(handle);
        if (adds) all.add(handle);
        else all.delete(handle);
        for (const [prefix, after] of questions) {
          const expected = [...all].sort().filter((each) => each.startsWith(prefix) && each > after);
          expect(sorted.listed(prefix, after)).toEqual(expected);
        }
      }
    }),
  );
});
