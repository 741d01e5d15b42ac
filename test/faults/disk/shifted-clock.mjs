import { readFileSync } from 'node:fs';

// Loaded into the server before its own code: the system's clock as if somebody set it. The file holds milliseconds.
const file = process.env.SHIFTED_CLOCK_FILE ?? '';
const SystemDate = Date;
const systemNow = Date.now;

function now() {
  return systemNow() + Number(readFileSync(file, 'utf8') || 0);
}

globalThis.Date = class ShiftedDate extends SystemDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }

  static now() {
    return now();
  }
};
