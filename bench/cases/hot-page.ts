import type { BenchCase } from '../harness/bench-case.ts';
import { hotReads } from './hot-reads.ts';

export const hotPage: BenchCase = {
  name: 'hot-page',
  title: 'the first 1,000 rows of trades, again and again, 32 connections',
  unit: 'requests/s',
  better: 'higher',
  rounds: 5,
  bars: [
    { kind: 'ratio', against: 'bare-node', atLeast: 0.8 },
    { kind: 'ratio', against: 'questdb', atLeast: 8 },
  ],
  prepare: (lab, cleanup) => hotReads(lab, cleanup, 1000),
};
