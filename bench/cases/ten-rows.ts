import type { BenchCase } from '../harness/bench-case.ts';
import { hotReads } from './hot-reads.ts';

export const tenRows: BenchCase = {
  name: 'ten-rows',
  title: 'the first 10 rows of trades, again and again, 32 connections',
  unit: 'requests/s',
  better: 'higher',
  rounds: 5,
  bars: [{ kind: 'ratio', against: 'questdb', atLeast: 1 }],
  prepare: (lab, cleanup) => hotReads(lab, cleanup, 10),
};
