import { sqlString } from '@framehold/columns';
import type { Connection } from '@framehold/duckdb';
import { type StatementSettings, statementSettings, wrongSetting } from '../../../../core/sql/statement-settings.ts';

/** A setting that DuckDB refused, or did not take back. */
interface RefusedSetting {
  readonly name: string;
  readonly value: string;
}

/**
 * The settings of the running statement, on the connection that all statements of this process share. Each job sets all of
 * them, so that no setting of one statement stays for the next, however the first ended.
 */
export class AppliedSettings {
  readonly #connection: Connection;
  /** The values in DuckDB; undefined if unknown. */
  readonly #values = new Map<string, string | undefined>(
    Object.entries(statementSettings).map(([name, { standard }]) => [name, standard]),
  );
  /** Of the last job, if all of its settings were accepted. */
  #last: string | undefined = keyOf(undefined);

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Sets these settings, and the standard of all others. Without a turn of the event loop, so that no cancel comes between. */
  tryApply(settings: StatementSettings | undefined): RefusedSetting | undefined {
    const key = keyOf(settings);
    if (key === this.#last) return undefined;
    this.#last = undefined;
    for (const [name, { standard }] of Object.entries(statementSettings)) {
      const value = settings?.[name] ?? standard;
      if (this.#values.get(name) === value) continue;
      this.#values.set(name, undefined);
      if (!this.#connection.runAtOnce(`SET ${name} = ${sqlString(value)}`)) return { name, value };
      this.#values.set(name, value);
    }
    this.#last = key;
    return undefined;
  }

  /** The same. Rejects where a value is none that DuckDB knows. */
  async apply(settings: StatementSettings | undefined): Promise<void> {
    const refused = this.tryApply(settings);
    if (refused === undefined) return;
    const { name, value } = refused;
    if (value !== statementSettings[name]?.standard) throw wrongSetting(name, value, await this.#known(name));
    this.#connection.isSpoilt = true;
    throw new Error(`DuckDB does not take back ${name}`);
  }

  async #known(name: string): Promise<readonly string[]> {
    const sources: Readonly<Record<string, string>> = {
      TimeZone: 'SELECT name FROM pg_timezone_names()',
      Calendar: 'SELECT name FROM icu_calendar_names()',
      default_collation: 'SELECT collname AS name FROM pragma_collations()',
    };
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (source === undefined) return [];
    return (await this.#connection.rows<{ name: string }>(source)).map(({ name: each }) => each);
  }
}

/** Settings stand in the order of their table. */
function keyOf(settings: StatementSettings | undefined): string {
  return settings === undefined ? '' : JSON.stringify(settings);
}
