import { afterEach, describe, expect, it } from 'vitest';
import type { Caller, Identify } from '../core/callers/principal.ts';
import { AppError } from '../core/errors/app-error.ts';
import { silentLogger } from '../core/logs/logger.ts';
import { unauthenticated } from './credentials.ts';
import { FailedLogins } from './failed-logins.ts';
import { anonymous } from './identify.ts';

const made: FailedLogins[] = [];
afterEach(() => {
  for (const logins of made.splice(0)) logins[Symbol.dispose]();
});

const of = (address: string, authorization: string | undefined): Caller => ({ address, headers: { authorization } });

/** Only `good` is valid; `late` fails like credentials that must be looked up. */
const check: Identify = ({ headers }) => {
  if (headers.authorization === 'good') return anonymous;
  if (headers.authorization === 'unmapped') throw new AppError('forbidden', 'nobody');
  const error = unauthenticated('wrong', 'another');
  if (headers.authorization === 'late') return Promise.reject(error);
  throw error;
};

function limited() {
  const clock = { ms: 0 };
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields?: object) => warnings.push(fields) };
  const logins = new FailedLogins({ maxPerMinute: 10, logger, now: () => clock.ms });
  made.push(logins);
  const identify = logins.limit(check);
  const codeOf = async (caller: Caller): Promise<string> => {
    try {
      return (await identify(caller)).name;
    } catch (error) {
      return (error as AppError).code;
    }
  };
  const codes = async (count: number, caller: Caller): Promise<string[]> => {
    const all: string[] = [];
    for (let n = 0; n < count; n++) all.push(await codeOf(caller));
    return all;
  };
  return { clock, warnings, logins, identify, codes };
}

describe('FailedLogins', () => {
  it.each(['wrong', 'late'])('limits an address from the eleventh %s credential of a minute on', async (credential) => {
    const { clock, codes, identify } = limited();
    expect(await codes(12, of('10.0.0.1', credential))).toEqual([
      ...Array(10).fill('unauthenticated'),
      'rate_limited',
      'rate_limited',
    ]);
    clock.ms = 20_000;
    const refused = (async () => identify(of('10.0.0.1', credential)))();
    await expect(refused).rejects.toMatchObject({ retryAfterSeconds: 40 });
    clock.ms = 60_000;
    expect(await codes(1, of('10.0.0.1', credential))).toEqual(['unauthenticated']);
  });

  it('takes a good credential of the same address', async () => {
    const { codes } = limited();
    await codes(1000, of('10.0.0.1', 'wrong'));
    expect(await codes(1, of('10.0.0.1', 'good'))).toEqual(['anonymous']);
  });

  it('limits other addresses apart, IPv6 by the /64', async () => {
    const { codes } = limited();
    await codes(11, of('2001:db8::1', 'wrong'));
    expect(await codes(1, of('2001:db8::2', 'wrong'))).toEqual(['rate_limited']);
    expect(await codes(1, of('2001:db8:0:1::1', 'wrong'))).toEqual(['unauthenticated']);
  });

  it('counts neither callers without a credential nor those who are known but mapped to nobody', async () => {
    const { codes } = limited();
    expect(new Set(await codes(20, of('10.0.0.1', undefined)))).toEqual(new Set(['unauthenticated']));
    expect(new Set(await codes(20, of('10.0.0.1', 'unmapped')))).toEqual(new Set(['forbidden']));
    expect(await codes(1, of('10.0.0.1', 'wrong'))).toEqual(['unauthenticated']);
  });

  it('logs one line for an address and minute', async () => {
    const { codes, warnings, logins } = limited();
    await codes(500, of('10.0.0.1', 'wrong'));
    expect(warnings).toEqual([]);
    logins[Symbol.dispose]();
    expect(warnings).toEqual([{ address: '10.0.0.1', more: 490, beyond: 10 }]);
  });
});
