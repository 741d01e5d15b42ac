import { connect } from 'node:net';
import { withTimeout } from '@framehold/async';
import type { CheckName } from './checks.ts';
import { type Finding, notOk, ok } from './finding.ts';

/** Another program that the server depends on. */
export type ServiceFacts =
  | { readonly state: 'up'; readonly answer: string }
  | { readonly state: 'down'; readonly problem: string };

export type ServiceCheck = Extract<CheckName, 'tsdb' | 'engine' | 'issuer' | 'otel'>;

/** For each of them to answer. */
export const serviceTimeoutMs = 2500;

const effects: Readonly<Record<ServiceCheck, readonly [meaning: string, remedy: string]>> = {
  tsdb: ['statements for it are answered 502 until it is there', 'start it, or correct tsdb.http_url'],
  engine: ['statements for it fail until it is there', 'start it, or correct its url in [engines]'],
  issuer: [
    'its tokens are refused until its keys can be fetched',
    'let this machine reach it, or correct [auth.issuers]',
  ],
  otel: [
    'traces are lost until it is there; requests do not wait for it',
    'start the collector, or correct otel.endpoint',
  ],
};

/** `name`: without a password in it. */
export function judgeService(check: ServiceCheck, name: string, facts: ServiceFacts): Finding {
  if (facts.state === 'up') return ok(check, `${name} ${facts.answer}`);
  return notOk('warn', check, `${name}: ${facts.problem}`, ...effects[check]);
}

/** Whether anybody listens there. */
export function tryConnect(url: string): Promise<ServiceFacts> {
  const { protocol, hostname, port } = new URL(url);
  const target = {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  };
  const socket = connect(target);
  const connected = new Promise<ServiceFacts>((resolve) => {
    socket.once('connect', () => resolve({ state: 'up', answer: 'accepts connections' }));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ state: 'down', problem: `no connection (${error.code ?? error.message})` }),
    );
  });
  return withTimeout(connected, serviceTimeoutMs, () => late).finally(() => socket.destroy());
}

/** The state of a service that takes longer. */
export const late: ServiceFacts = { state: 'down', problem: `no answer in ${serviceTimeoutMs / 1000} s` };
