import { type StatementSettings, wrongSetting } from '../../core/sql/statement-settings.ts';

/** Others, such as `EST`, differ between engines. */
const sameEverywhere = /^(?:UTC|[A-Za-z_]+\/[\w+/-]+)$/;

/** The zone that a statement sets. Undefined: the standard. */
export function timeZoneOf(settings: StatementSettings | undefined): string | undefined {
  const zone = settings?.TimeZone;
  if (zone === undefined) return undefined;
  if (!sameEverywhere.test(zone)) throw wrongSetting('TimeZone', zone);
  return zone;
}
