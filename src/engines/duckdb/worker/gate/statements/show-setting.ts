import type { Query } from '../../../../../core/sql/sql.ts';
import { settingName } from '../../../../../core/sql/statement-settings.ts';
import { SourceText } from '../../../../../core/text/source-text.ts';
import type { GateText } from '../gate-query.ts';
import type { Token } from '../../../../../core/text/tokens.ts';

/** SHOW TimeZone and SHOW TIME ZONE. Undefined for other settings. */
export async function shownSetting(tokens: readonly Token[], gate: GateText): Promise<Query | undefined> {
  const [show, first, second, ...others] = tokens;
  if (show?.word !== 'show' || first?.kind !== 'word' || others.length > 0) return undefined;
  const isTimeZone = first.word === 'time' && second?.word === 'zone';
  if (second !== undefined && !isTimeZone) return undefined;
  const name = settingName(isTimeZone ? 'TimeZone' : first.text);
  if (name === undefined) return undefined;
  return await gate(new SourceText().ours(`SELECT current_setting('${name}') AS "${name}"`, first.start));
}
