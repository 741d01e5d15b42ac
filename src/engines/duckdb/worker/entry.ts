import { start } from './worker.ts';

void start();
