import { AppError } from '../../../core/errors/app-error.ts';

/** A column of a schema, as written. */
export interface ColumnText {
  readonly name: string;
  readonly type: string;
  readonly pattern: string | undefined;
}

interface Token {
  readonly kind: 'name' | 'pattern' | 'size' | 'comma' | 'word';
  readonly text: string;
}

const token = /\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|(\([^()]*\))|(,)|([^\s"'(),]+))\s*/y;

/** `name TYPE, "other name" DECIMAL(10,2), ts TIMESTAMP 'pattern'` */
export function columnsOfText(text: string): readonly ColumnText[] {
  const columns: Token[][] = [[]];
  for (const token of tokensOf(text)) {
    if (token.kind === 'comma') columns.push([]);
    else columns.at(-1)?.push(token);
  }
  return columns.map(columnOf);
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null) throw unreadable(text.slice(at));
    const [, name, pattern, size, comma, word] = found;
    if (name !== undefined) tokens.push({ kind: 'name', text: name.replaceAll('""', '"') });
    else if (pattern !== undefined) tokens.push({ kind: 'pattern', text: pattern.replaceAll("''", "'") });
    else if (size !== undefined) tokens.push({ kind: 'size', text: size });
    else if (comma !== undefined) tokens.push({ kind: 'comma', text: comma });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
  }
  return tokens;
}

function columnOf([name, ...rest]: readonly Token[]): ColumnText {
  if (name === undefined) throw invalidSchema('a column is empty');
  if (name.kind !== 'name' && name.kind !== 'word') throw unreadable(name.text);
  const pattern = rest.at(-1)?.kind === 'pattern' ? rest.at(-1)?.text : undefined;
  const type = pattern === undefined ? rest : rest.slice(0, -1);
  const strange = type.find(({ kind }) => kind !== 'word' && kind !== 'size');
  if (strange !== undefined) throw unreadable(strange.text);
  if (type.length === 0) throw invalidSchema(`column ${JSON.stringify(name.text.slice(0, 100))} has no type`);
  return { name: name.text, type: type.map(({ text }) => text).join(' '), pattern };
}

function unreadable(text: string): AppError {
  return invalidSchema(`it cannot be read from ${JSON.stringify(text.slice(0, 40))} on`);
}

export function invalidSchema(why: string): AppError {
  return new AppError('invalid_parameter', `schema is not valid: ${why}`, {
    hint: 'write a JSON array such as [{"name":"ts","type":"TIMESTAMP","pattern":"dd/MM/yyyy HH:mm"}], or ts TIMESTAMP, price DOUBLE',
  });
}
