import { type SparkSession, settingNotKept } from '@framehold/spark-connect';
import { type StatementSettings, wrongSetting } from '../../core/sql/statement-settings.ts';
import { standardTimeZone, timeZoneSetting } from './session-settings.ts';

/** Others, such as `EST`, differ between engines. */
const sameEverywhere = /^(?:UTC|[A-Za-z_]+\/[\w+/-]+)$/;

/** The zone that a statement sets. Undefined: the standard. */
export function timeZoneOf(settings: StatementSettings | undefined): string | undefined {
  const zone = settings?.TimeZone;
  if (zone === undefined) return undefined;
  if (!sameEverywhere.test(zone)) throw wrongSetting('TimeZone', zone);
  return zone;
}

/** The zone of later statements. */
export async function useTimeZone(
  session: SparkSession,
  zone: string | undefined,
  options: { readonly signal: AbortSignal },
): Promise<void> {
  const value = zone ?? standardTimeZone;
  if (await session.change(timeZoneSetting, value, options)) return;
  throw zone === undefined ? settingNotKept(timeZoneSetting, value) : wrongSetting('TimeZone', zone);
}
