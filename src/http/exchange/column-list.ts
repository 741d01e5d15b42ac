import { AppError } from '../../core/errors/app-error.ts';

/** No request target can be longer; in a body it could. */
const mostCharacters = 262_144;

/** QuestDB's `cols`: names with commas between them, in double quotes where a name has commas itself; `\\` before a quote. */
export function parseColumnList(text: string, parameter = 'cols'): string[] {
  if (text.length > mostCharacters) {
    const message = `${parameter} has ${text.length} characters, and at most ${mostCharacters} are read`;
    throw new AppError('too_large', message, { hint: 'name fewer columns' });
  }
  const names: string[] = [];
  let name = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '\\' && at + 1 < text.length) name += text[++at];
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ',' && !isQuoted) {
      names.push(name);
      name = '';
    } else name += character;
  }
  names.push(name);
  if (isQuoted || names.includes('')) {
    const shown = JSON.stringify(text.slice(0, 100));
    throw new AppError('invalid_parameter', `${parameter} ${shown} is not a list of column names`, {
      hint: `write ${parameter}=price,"best, ask"`,
    });
  }
  return names;
}
