import { type LiveReport, liveHeaders } from '../../core/sql/live-tables.ts';
import type { Exchange } from './exchange.ts';

/** Reports the reads of the external database in the headers of the answer. A statement that runs again reports its last run. */
export function reportLive({ headers }: Pick<Exchange, 'headers'>): (report: LiveReport) => void {
  return (report) => {
    for (const [name, value] of liveHeaders(report)) {
      const at = headers.indexOf(name);
      if (at < 0) headers.push(name, value);
      else headers[at + 1] = value;
    }
  };
}
