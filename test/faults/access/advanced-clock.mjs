import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

// Loaded into the server before its own code: the clock that runs evenly, as if more time had passed. The file holds milliseconds.
const file = process.env.ADVANCED_CLOCK_FILE ?? '';
const evenNow = performance.now.bind(performance);

performance.now = () => evenNow() + Number(readFileSync(file, 'utf8') || 0);
