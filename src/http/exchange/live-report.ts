import { type LiveReport, liveHeaders } from '../../core/live-tables.ts';
import type { Exchange } from './exchange.ts';

/** Tells in the headers of the answer what came of the external database. A statement that runs again tells of its last run. */
export function reportLive({ headers }: Pick<Exchange, 'headers'>): (report: LiveReport) => void {
  return (report) => {
    for (const [name, value] of liveHeaders(report)) {
      const at = headers.indexOf(name);
      if (at < 0) headers.push(name, value);
      else headers[at + 1] = value;
    }
  };
}
