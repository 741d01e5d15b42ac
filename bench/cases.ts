import type { BenchCase } from './bench-case.ts';
import { coldPages } from './cases/cold-pages.ts';
import { hotPage } from './cases/hot-page.ts';
import { memory } from './cases/memory.ts';
import { millionRows } from './cases/million-rows.ts';
import { proxy } from './cases/proxy.ts';
import { start } from './cases/start.ts';
import { tenRows } from './cases/ten-rows.ts';

/** In the order in which they run. */
export const cases: readonly BenchCase[] = [hotPage, coldPages, millionRows, tenRows, proxy, start, memory];
