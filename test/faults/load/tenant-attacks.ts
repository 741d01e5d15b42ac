import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask } from '../../support/http-client.ts';
import { bearer, ClosedServers } from '../access/closed-servers.ts';
import { MemoryWatch, megabytes } from '../grpc/process-family.ts';
import { promised, type Scenario, type Size, type Trial } from '../harness/scenario.ts';
import { attacks, type Target } from './attacks/attacks.ts';
import { Victim } from './attacks/victim.ts';
import { quantile } from './quantile.ts';

/** In CI other tests run beside it: a wait says little there, but a failure and a wait without an end do. */
const limits = {
  ci: { quietMs: 2000, attackMs: 2500, waitMs: 5000, pingMs: 2000, growthBytes: 1.6e9 },
  release: { quietMs: 10_000, attackMs: 15_000, waitMs: 1000, pingMs: 100, growthBytes: 1e9 },
} as const satisfies Record<Size, object>;
const recoveryMs = 5000;
const attackerNiceness = 10;
const program = fileURLToPath(new URL('attacks/attacker.ts', import.meta.url));
const names = Object.keys(attacks);

/** O6: one tenant with ordinary tokens attacks, another does a little of everything. */
export const tenantAttacks: Scenario = {
  id: 'O6',
  promise: 'what a tenant does with ordinary tokens lets no request of another fail or wait for long',
  rounds: { ci: 1, release: 20 },
  secondsPerRound: 300,
  async run({ rounds, size, random, progress }: Trial) {
    const { quietMs, attackMs, waitMs, pingMs, growthBytes: mostGrowthBytes } = limits[size];
    await using servers = await ClosedServers.start(1, { mayStandStill: size === 'ci' });
    for (const tenant of ['acme', 'beta']) await servers.makeTenant(tenant);
    const server = servers.at(0);
    const token = async (tenant: string, role: 'read' | 'write'): Promise<string> =>
      (await servers.makeToken({ tenant, role })).token;
    const target: Target = {
      url: server.url,
      grpcPort: server.grpcPort,
      read: await token('acme', 'read'),
      write: await token('acme', 'write'),
    };
    await ask(`${server.url}/imp?name=own`, { method: 'POST', headers: bearer(target.write), body: 'a\n1\n' });
    using victim = await Victim.start(server.url, await token('beta', 'write'));
    await delay(1000);
    victim.take();
    await delay(quietMs);
    const quiet = victim.take();
    const slowest = new Map<string, number>();
    /** All of them: a run takes long. */
    const broken: string[] = [];
    const noteServed = (during: string): void => {
      for (const [what, waits] of victim.take()) {
        const mostMs = Math.max(waitMs, 5 * quantile(quiet.get(what) ?? [], 0.99));
        const longestMs = Math.max(...waits);
        slowest.set(what, Math.max(slowest.get(what) ?? 0, longestMs));
        if (longestMs > mostMs) broken.push(`${during}: a ${what} waited for ${Math.round(longestMs)} ms`);
        const pingP99 = quantile(waits, 0.99);
        if (what === 'ping' && pingP99 > pingMs) broken.push(`${during}: ping p99 is ${Math.round(pingP99)} ms`);
      }
    };
    using memory = new MemoryWatch(server.pid, 250);
    const attack = async (attackNames: readonly string[]): Promise<void> => {
      const during = attackNames.join(' and ');
      progress(during);
      const attacker = attackWith(target, attackNames);
      try {
        if (attacker.stdout !== null) await once(attacker.stdout, 'data');
        await delay(attackMs);
      } finally {
        await stop(attacker);
      }
      noteServed(during);
    };
    const inThrees = (): string[][] => {
      const mixed = names.map((name) => ({ name, at: random.between(0, 1e9) })).sort((one, other) => one.at - other.at);
      return mixed.flatMap((_, at) => (at % 3 === 0 ? [mixed.slice(at, at + 3).map(({ name }) => name)] : []));
    };
    for (let round = 0; round < rounds; round++) {
      for (const name of size === 'ci' ? [] : names) await attack([name]);
      for (const three of inThrees()) await attack(three);
    }
    const { growthBytes } = memory;
    if (growthBytes > mostGrowthBytes) broken.push(`memory grew by ${megabytes(growthBytes)} MB`);
    await delay(recoveryMs);
    const leftBytes = memory.nowBytes - memory.beforeBytes;
    victim.take();
    await delay(quietMs);
    noteServed('the time after');
    await victim.end();
    victim.take();
    promised(broken.length === 0, 'others are served, and memory stays within its bounds', broken);
    const figures = [...slowest].map(([what, ms]) => [`slowest ${what} ms`, Math.round(ms)]);
    return {
      attacks: rounds * names.length,
      'peak growth MB': megabytes(growthBytes),
      'growth left MB': megabytes(leftBytes),
      ...Object.fromEntries(figures),
    };
  },
};

function attackWith(target: Target, attackNames: readonly string[]): ChildProcess {
  const given = JSON.stringify({ target, names: attackNames });
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
  const attacker = spawn(process.execPath, ['--import', 'tsx', program, given], { stdio });
  // Attackers have machines of their own: here, what is left of the processors.
  if (attacker.pid !== undefined) setPriority(attacker.pid, attackerNiceness);
  return attacker;
}

async function stop(attacker: ChildProcess): Promise<void> {
  if (attacker.exitCode !== null) throw new Error('the attacker ended by itself');
  attacker.kill('SIGKILL');
  await once(attacker, 'exit');
}
