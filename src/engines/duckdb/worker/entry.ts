import './native/restrict-writes.ts';
import { start } from './worker.ts';

void start();
