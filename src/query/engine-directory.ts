import { withTimeout } from '@framehold/async';
import type { Principal } from '../core/callers/principal.ts';
import { mayUseEngine, usableDefault } from '../core/names/engine-names.ts';
import type { EngineHealth, EngineKind, NamedEngine } from '../core/sql/engine.ts';

/** An engine as callers see it. */
export interface EngineStatus {
  readonly name: string;
  readonly kind: EngineKind;
  /** The engine of /exec queries without `engine`. */
  readonly isDefault: boolean;
  /** The engine of `engine=auto` for statements that read much. */
  readonly isForLarge: boolean;
  readonly health: EngineHealth;
}

export interface EngineDirectoryOptions {
  /** In the order in which they are listed. */
  readonly engines: readonly NamedEngine[];
  readonly defaultEngine: string;
  readonly autoEngine: string | undefined;
}

/** Longer than engines take to say themselves that they have no answer. */
const healthTimeoutMs = 4000;
const freshMs = 1000;

/** All engines and their health, checked together, within a few seconds and at most once a second. */
export class EngineDirectory {
  readonly #options: EngineDirectoryOptions;
  #statuses: Promise<readonly EngineStatus[]> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: EngineDirectoryOptions) {
    this.#options = options;
  }

  /** The engines that the caller may use. */
  namesFor(principal: Principal): readonly string[] {
    return this.#options.engines.map(({ name }) => name).filter((name) => mayUseEngine(principal, name));
  }

  async list(principal: Principal): Promise<readonly EngineStatus[]> {
    const defaultEngine = usableDefault(principal, this.#options.defaultEngine);
    return (await this.#all())
      .filter(({ name }) => mayUseEngine(principal, name))
      .map((engine) => ({ ...engine, isDefault: engine.name === defaultEngine }));
  }

  #all(): Promise<readonly EngineStatus[]> {
    const now = performance.now();
    if (this.#statuses === undefined || now - this.#askedAt >= freshMs) {
      this.#askedAt = now;
      this.#statuses = Promise.all(this.#options.engines.map((engine) => this.#ask(engine)));
    }
    return this.#statuses;
  }

  async #ask(engine: NamedEngine): Promise<EngineStatus> {
    const { name, kind } = engine;
    const { defaultEngine, autoEngine } = this.#options;
    const health = await healthInTime(engine);
    return { name, kind, isDefault: name === defaultEngine, isForLarge: name === autoEngine, health };
  }
}

function healthInTime(engine: NamedEngine): Promise<EngineHealth> {
  const controller = new AbortController();
  const asked = engine
    .health({ signal: controller.signal })
    .catch((): EngineHealth => ({ state: 'down', problem: 'it could not be asked' }));
  return withTimeout(asked, healthTimeoutMs, () => {
    controller.abort();
    return { state: 'down', problem: `no answer within ${healthTimeoutMs / 1000} s` };
  });
}
