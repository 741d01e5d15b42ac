import { randomBase32 } from '../core/handle.ts';
import { type SessionOptionValue, sessionError } from '../protobuf/flight-messages.ts';
import type { Call } from './method.ts';

type OptionValue = ReturnType<typeof SessionOptionValue.decode>;
type SessionError = (typeof sessionError)[keyof typeof sessionError];

/** What a client has chosen for its session. */
export interface SessionOptions {
  readonly catalog?: string;
  readonly schema?: string;
}

const cookieName = 'arrow_flight_session_id';
const optionNames = ['catalog', 'schema'] as const;
const catalogs: readonly string[] = ['framehold', 'analytics'];
const maxSchemaLength = 256;
/** Of those that nobody has used for longest, the first goes. */
const maxSessions = 10_000;

/** Options that clients keep on the server, under a cookie as Flight has it. Setting one begins a session; asking does not. */
export class Sessions {
  readonly #byId = new Map<string, SessionOptions>();

  /** Undefined without a session. */
  of(call: Call): SessionOptions | undefined {
    const id = cookieOf(call);
    const options = id === undefined ? undefined : this.#byId.get(id);
    if (id !== undefined && options !== undefined) this.#keep(id, options);
    return options;
  }

  /** Gives the options that were refused, and why. */
  set(call: Call, values: ReadonlyMap<string, OptionValue>): Map<string, SessionError> {
    const errors = new Map<string, SessionError>();
    const before = this.of(call);
    let options: SessionOptions = before ?? {};
    for (const [name, value] of values) {
      const known = optionNames.find((option) => option === name);
      if (known === undefined) {
        errors.set(name.slice(0, 200), sessionError.invalidName);
      } else if (isEmpty(value)) {
        const { [known]: _, ...others } = options;
        options = others;
      } else if (isLegal(known, value.string)) {
        options = { ...options, [known]: value.string };
      } else {
        errors.set(name, sessionError.invalidValue);
      }
    }
    const id = before === undefined ? randomBase32(26) : cookieOf(call);
    if (id === undefined) return errors;
    this.#keep(id, options);
    if (before === undefined) call.setHeader('set-cookie', `${cookieName}=${id}; Path=/; HttpOnly`);
    return errors;
  }

  close(call: Call): void {
    const id = cookieOf(call);
    if (id === undefined || !this.#byId.delete(id)) return;
    call.setHeader('set-cookie', `${cookieName}=; Path=/; Max-Age=0`);
  }

  #keep(id: string, options: SessionOptions): void {
    this.#byId.delete(id);
    this.#byId.set(id, options);
    if (this.#byId.size <= maxSessions) return;
    for (const oldest of this.#byId.keys()) {
      this.#byId.delete(oldest);
      return;
    }
  }
}

function isEmpty(value: OptionValue): boolean {
  return Object.values(value).every((choice) => choice === undefined);
}

function isLegal(name: (typeof optionNames)[number], value: string | undefined): value is string {
  if (value === undefined) return false;
  return name === 'catalog' ? catalogs.includes(value) : value.length > 0 && value.length <= maxSchemaLength;
}

function cookieOf(call: Call): string | undefined {
  for (const pair of (call.metadata.cookie ?? '').split(';')) {
    const [name, value] = pair.split('=', 2);
    if (name?.trim() === cookieName) return value?.trim().replaceAll('"', '');
  }
  return undefined;
}
