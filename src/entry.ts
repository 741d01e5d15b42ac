#!/usr/bin/env node
import { isInRange } from './core/system/node-range.ts';
import { nodeRange } from './core/system/version.ts';

// Compiled for the oldest Node.js, which could not even parse the program: that is a file of its own, loaded behind the check.
const { node } = process.versions;
if (isInRange(node, nodeRange)) {
  void import('./main.ts');
} else {
  process.stderr.write(`framehold: Node.js ${node} is not supported; use Node.js ${nodeRange}\n`);
  process.exitCode = 1;
}
