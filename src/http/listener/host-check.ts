import { isIP } from 'node:net';
import { AppError } from '../../core/errors/app-error.ts';

/**
 * The owner of a name can let it point at this server once a page of theirs is loaded: the browser then takes our answers for
 * those of the page. Nobody owns an address, or localhost; any other name must be declared.
 */
export class HostCheck {
  readonly #names: ReadonlySet<string>;
  /** The texts behind the `*` of wildcards. */
  readonly #endings: readonly string[];
  readonly #isOpen: boolean;
  /** Most clients of a listener send the same. */
  #lastGood: string | undefined;

  /** Names, `*.example.com`, or `*` for any. */
  constructor(hosts: readonly string[]) {
    this.#isOpen = hosts.includes('*');
    this.#names = new Set(['localhost', ...hosts]);
    this.#endings = ['*.localhost', ...hosts].filter((host) => host.startsWith('*.')).map((host) => host.slice(1));
  }

  /** A request without a Host passes: browsers send one. */
  check(host: string | undefined): void {
    if (host === this.#lastGood || host === undefined || host === '' || this.#isOpen) return;
    if (!this.#isDeclared(nameOf(host))) {
      throw new AppError(
        'wrong_host',
        `this server does not answer to the name ${JSON.stringify(host.slice(0, 200))}`,
        {
          hint: 'let the operator add the name to http.hosts, or use the address of the server',
        },
      );
    }
    this.#lastGood = host;
  }

  #isDeclared(name: string): boolean {
    if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || this.#names.has(name)) return true;
    return this.#endings.some((ending) => name.length > ending.length && name.endsWith(ending));
  }
}

/** Without its port, and without the dot that ends a name. */
function nameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/(?<=[^.])\.$/, '');
}
