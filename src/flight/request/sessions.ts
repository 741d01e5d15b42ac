import { type SessionOptionValue, sessionError } from '@framehold/grpc/flight';
import { readCredential } from '../../auth/credentials.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { AppError } from '../../core/errors/app-error.ts';
import { mayUseEngine, unknownEngine } from '../../core/names/engine-names.ts';
import { type Handle, randomBase32 } from '../../core/names/handle.ts';
import type { Definition } from '../../core/sql/definition.ts';
import { analyticsCatalog, framesCatalog } from '../../core/sql/sql.ts';
import { type StatementSettings, settingName, withSetting } from '../../core/sql/statement-settings.ts';
import { asciiLower } from '../../core/text/ascii-lower.ts';
import type { FrameSql } from '../../query/frame-sql.ts';
import type { TemporaryTables } from '../../query/tables/temporary-tables.ts';
import type { Call } from '../call.ts';
import { OwnedMap } from './owned-map.ts';

type OptionValue = ReturnType<typeof SessionOptionValue.decode>;
type SessionError = (typeof sessionError)[keyof typeof sessionError];

/** A client's settings of its session. */
export interface SessionOptions {
  readonly catalog?: string;
  readonly schema?: string;
  readonly engine?: string;
  readonly settings?: StatementSettings | undefined;
  /** That BEGIN began, by its id. */
  readonly transaction?: Uint8Array | undefined;
  /** Handles of its temporary tables and views, by their names in lower case. */
  readonly temporary?: ReadonlyMap<string, Handle> | undefined;
  /** Its macros and types, by their keys. */
  readonly definitions?: ReadonlyMap<string, Definition> | undefined;
}

export interface SessionSettings {
  readonly takesTokens: boolean;
  readonly issueToken?: ((principal: Principal) => Promise<string>) | undefined;
  /** Checks values of settings with the engine. */
  readonly sql: Pick<FrameSql, 'analyze' | 'prepare'>;
}

const cookieName = 'arrow_flight_session_id';
const optionNames = ['catalog', 'schema', 'engine'] as const;
const maxSchemaLength = 256;
const maxSessions = 10_000;
const noTables: ReadonlyMap<string, Handle> = new Map();
const noDefinitions: ReadonlyMap<string, Definition> = new Map();

/**
 * Options that clients keep on the server, under a cookie as in Flight, or under the token that a handshake gave them. Setting
 * one begins a session if there is none; reading does not.
 */
export class Sessions {
  readonly #byId = new OwnedMap<SessionOptions>(maxSessions);
  /** Tokens without options yet. */
  readonly #tokens = new OwnedMap<true>(maxSessions);
  readonly #engines: readonly string[];

  readonly #takesTokens: boolean;
  readonly #issueToken: ((principal: Principal) => Promise<string>) | undefined;
  readonly #sql: SessionSettings['sql'];

  /**
   * `engines`: the names that the option `engine` takes. `takesTokens`: the token of a handshake names a session, too. Not where
   * tokens are credentials: all holders of one would share its options. `issueToken`: for a caller with a certificate.
   */
  constructor({ takesTokens, issueToken, sql }: SessionSettings, engines: readonly string[]) {
    this.#takesTokens = takesTokens;
    this.#issueToken = issueToken;
    this.#sql = sql;
    this.#engines = engines;
  }

  /** The answer to a handshake: the credential that the client has sent, else a token of its own. */
  async tokenFor(call: Call): Promise<string> {
    if (!this.#takesTokens) {
      const shown = readCredential(call.metadata)?.secret;
      if (shown !== undefined || call.principal.credential !== 'certificate') return shown ?? '';
      return (await this.#issueToken?.(call.principal)) ?? '';
    }
    const token = givenToken(call) ?? randomBase32(26);
    const { principal } = call;
    if (!this.#byId.has(principal, token)) this.#tokens.set(principal, token, true);
    return token;
  }

  /** Undefined without a session. */
  of(call: Call): SessionOptions | undefined {
    const id = this.#idOf(call);
    return id === undefined ? undefined : (this.#byId.get(call.principal, id) ?? {});
  }

  /** As SET does: the engine, or a setting of statements; undefined takes it back. */
  async setOne(call: Call, name: string, value: string | undefined): Promise<void> {
    if (name === 'engine') return this.#setEngine(call, value);
    const id = this.#idIn(call, `SET ${name}`, 'keep the cookies of the server and set an option by SetSessionOptions');
    await this.#checkSetting(call, name, value);
    // Other calls may have set more meanwhile.
    const options = this.#byId.get(call.principal, id) ?? {};
    this.#keep(call, id, { ...options, settings: withSetting(options.settings, name, value) });
  }

  /** Undefined without a session. */
  temporaryOf(call: Call): TemporaryTables | undefined {
    const id = this.#idOf(call);
    if (id === undefined) return undefined;
    const options = (): SessionOptions => this.#byId.get(call.principal, id) ?? {};
    return {
      handles: options().temporary ?? noTables,
      set: (name, handle) => {
        const temporary = new Map(options().temporary);
        if (handle === undefined) temporary.delete(asciiLower(name));
        else temporary.set(asciiLower(name), handle);
        this.#keep(call, id, { ...options(), temporary });
      },
      definitions: options().definitions ?? noDefinitions,
      define: (key, definition) => {
        const definitions = new Map(options().definitions);
        if (definition === undefined) definitions.delete(key);
        else definitions.set(key, definition);
        this.#keep(call, id, { ...options(), definitions });
      },
    };
  }

  /** The transaction of the session: undefined for none. Only in a session: otherwise the next call would not be in it. */
  setTransaction(call: Call, transaction: Uint8Array | undefined): void {
    const id = this.transactionId(call);
    this.#keep(call, id, { ...this.#byId.get(call.principal, id), transaction });
  }

  /** The session in which BEGIN, COMMIT and ROLLBACK work. */
  transactionId(call: Call): string {
    const how =
      'turn autocommit off in the driver (BeginTransaction), or keep the cookies of the server and set an option by SetSessionOptions';
    return this.#idIn(call, 'a transaction by BEGIN', how);
  }

  #idIn(call: Call, what: string, how: string): string {
    const id = this.#idOf(call);
    if (id !== undefined) return id;
    const message = `${what} needs a session, and this call has none that is known`;
    throw new AppError('invalid_parameter', message, { hint: `${how}, or send the token of a Handshake` });
  }

  /** Only in a session: a client without cookies would name another engine the next time. */
  #setEngine(call: Call, engine: string | undefined): void {
    const how =
      'name the engine in the header x-framehold-engine of each call, or as session option engine (SetSessionOptions, with cookies)';
    const id = this.#idIn(call, 'SET engine', how);
    const known = this.#engines.filter((name) => mayUseEngine(call.principal, name));
    if (engine !== undefined && !known.includes(engine)) throw unknownEngine(engine, known);
    const { engine: _, ...others } = this.#byId.get(call.principal, id) ?? {};
    this.#keep(call, id, engine === undefined ? others : { ...others, engine });
  }

  /** Gives the options that were refused, and why. */
  async set(call: Call, values: ReadonlyMap<string, OptionValue>): Promise<Map<string, SessionError>> {
    const errors = new Map<string, SessionError>();
    const refused = await this.#refusedSettings(call, values);
    const before = this.of(call);
    let options: SessionOptions = before ?? {};
    for (const [name, value] of values) {
      const known = optionNames.find((option) => option === name);
      if (known === undefined) {
        const setting = settingName(name);
        if (setting === undefined) errors.set(name.slice(0, 200), sessionError.invalidName);
        else if (refused.has(name)) errors.set(name, sessionError.invalidValue);
        else options = { ...options, settings: withSetting(options.settings, setting, settingValue(value)) };
      } else if (isEmpty(value)) {
        const { [known]: _, ...others } = options;
        options = others;
      } else if (this.#isLegal(call.principal, known, value.string)) {
        options = { ...options, [known]: value.string };
      } else {
        errors.set(name, sessionError.invalidValue);
      }
    }
    const cookie = randomBase32(26);
    this.#keep(call, this.#idOf(call) ?? cookie, options);
    if (before === undefined) call.setHeader('set-cookie', `${cookieName}=${cookie}; Path=/; HttpOnly`);
    return errors;
  }

  /** Returns the frames of its temporary tables, which have lost their names. */
  close(call: Call): readonly Handle[] {
    const id = this.#idOf(call);
    if (id === undefined) return [];
    const handles = [...(this.#byId.get(call.principal, id)?.temporary?.values() ?? [])];
    if (!this.#byId.delete(call.principal, id)) return [];
    if (id === cookieOf(call)) call.setHeader('set-cookie', `${cookieName}=; Path=/; Max-Age=0`);
    else this.#tokens.set(call.principal, id, true);
    return handles;
  }

  async #refusedSettings(call: Call, values: ReadonlyMap<string, OptionValue>): Promise<ReadonlySet<string>> {
    const refused = new Set<string>();
    for (const [name, value] of values) {
      if (settingName(name) === undefined) continue;
      try {
        const given = settingValue(value);
        if (given === undefined && !isEmpty(value)) refused.add(name);
        else await this.#checkSetting(call, name, given);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'invalid_parameter') throw error;
        refused.add(name);
      }
    }
    return refused;
  }

  /** Which time zones and collations there are only the engine knows. */
  async #checkSetting(
    { principal, signal, lane, requestId }: Call,
    name: string,
    value: string | undefined,
  ): Promise<void> {
    const settings = withSetting(undefined, name, value);
    if (settings === undefined) return;
    const options = { signal, lane, requestId, shownAs: `SET ${settingName(name)}` };
    const statement = await this.#sql.analyze(principal, { sql: 'SELECT 1', settings }, options);
    await this.#sql.prepare(principal, statement, options);
  }

  #keep({ principal }: Call, id: string, options: SessionOptions): void {
    this.#byId.set(principal, id, options);
    this.#tokens.delete(principal, id);
  }

  #idOf(call: Call): string | undefined {
    const { principal } = call;
    const ids = [cookieOf(call), this.#takesTokens ? tokenOf(call) : undefined];
    return ids.find((id) => id !== undefined && (this.#byId.has(principal, id) || this.#tokens.has(principal, id)));
  }

  #isLegal(principal: Principal, name: (typeof optionNames)[number], value: string | undefined): value is string {
    if (value === undefined) return false;
    if (name === 'engine') return this.#engines.includes(value) && mayUseEngine(principal, value);
    if (name === 'schema') return value.length > 0 && value.length <= maxSchemaLength;
    return value === framesCatalog || (value === analyticsCatalog && mayUseEngine(principal, value));
  }
}

function isEmpty(value: OptionValue): boolean {
  return Object.values(value).every((choice) => choice === undefined);
}

function settingValue({ string, bool }: OptionValue): string | undefined {
  return string ?? (bool === undefined ? undefined : String(bool));
}

function cookieOf(call: Call): string | undefined {
  for (const pair of (call.metadata.cookie ?? '').split(';')) {
    const [name, value] = pair.split('=', 2);
    if (name?.trim() === cookieName) return value?.trim().replaceAll('"', '');
  }
  return undefined;
}

/** A client with a token keeps it, also one from an earlier server. */
function givenToken(call: Call): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,4096})$/i.exec(call.metadata.authorization ?? '')?.[1];
}

function tokenOf(call: Call): string | undefined {
  return /^Bearer (\S+)$/i.exec(call.metadata.authorization ?? '')?.[1];
}
