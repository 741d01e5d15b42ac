import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { shownMs } from '../core/text/amounts.ts';
import { type Finding, notOk, ok } from './finding.ts';

export interface ClockFacts {
  readonly nowMs: number;
  /** Undefined: unknown on this machine. */
  readonly isSynchronised: boolean | undefined;
  /** Other clocks, and the time by which each is ahead of this one. */
  readonly others: readonly { readonly name: string; readonly aheadMs: number }[];
}

/** No release of this program is older. */
const earliestMs = Date.UTC(2025, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);
/** Times of files and of HTTP are that coarse. */
const notedMs = 5000;
/** By which times in a JWT may differ. */
const mostMs = 60_000;
const askMs = 1000;

/** Whether a service keeps the clock in step. */
export async function isClockSynchronised(): Promise<boolean | undefined> {
  if (await exists('/run/systemd/timesync/synchronized')) return true;
  const result = await promisify(execFile)('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    timeout: askMs,
  }).catch(() => undefined);
  const answer = result?.stdout.trim();
  if (answer === 'yes' || answer === 'no') return answer === 'yes';
  const runs = await Promise.all(['/run/chrony/chronyd.pid', '/run/chronyd.pid', '/run/ntpd.pid'].map(exists));
  return runs.includes(true) ? true : undefined;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function judgeClock({ nowMs, isSynchronised, others }: ClockFacts): Finding {
  const shown = `${new Date(nowMs).toISOString().slice(0, 19)}Z`;
  const remedy = 'run chrony or systemd-timesyncd on the machine';
  if (nowMs < earliestMs || nowMs > latestMs) {
    const meaning = 'the clock is wrong: certificates, tokens and times to live are judged by it';
    return notOk('fail', 'clock', shown, meaning, remedy);
  }
  const [worst] = [...others].sort((one, other) => Math.abs(other.aheadMs) - Math.abs(one.aheadMs));
  const differenceMs = Math.abs(worst?.aheadMs ?? 0);
  if (worst !== undefined && differenceMs > notedMs) {
    const found = `${shown}, ${shownMs(differenceMs)} ${worst.aheadMs > 0 ? 'behind' : 'ahead of'} ${worst.name}`;
    return differenceMs > mostMs
      ? notOk('fail', 'clock', found, 'tokens and leases are taken for expired, or not yet good', remedy)
      : notOk('warn', 'clock', found, `tokens are refused when it is more than ${mostMs / 1000} s`, remedy);
  }
  const compared = others.length === 0 ? '' : `, as ${others.map(({ name }) => name).join(', ')}`;
  if (isSynchronised === true) return ok('clock', `${shown}, synchronised${compared}`);
  if (isSynchronised === false) {
    const meaning = 'nothing keeps the clock right: tokens and leases of several servers need that';
    return notOk('warn', 'clock', `${shown}, not synchronised${compared}`, meaning, remedy);
  }
  const meaning = 'nothing here tells whether it is synchronised; a container has the clock of its host';
  return notOk('note', 'clock', `${shown}${compared}`, meaning, 'look on the host');
}
