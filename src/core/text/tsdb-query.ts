import {
  catalogPrefix,
  catalogs,
  computingFunctions,
  ownTablePrefix,
  valuesOfTheServer,
  wordsBeforeParenthesis,
} from './tsdb-names.ts';

/** Why a text is not one query of the external database's dialect that may be sent. */
export interface QueryFault {
  readonly problem: string;
  readonly hint: string;
}

/** Texts and quoted names. Doubled quotes read as two of them, one behind the other, which hides the same. */
const quoted = /'[^']*'|"[^"]*"/g;

/**
 * The fault of a text as one query (SELECT, WITH or DECLARE) in the dialect of the external database; undefined: none. It has no
 * comments: readers disagree about their ends. Its functions are on a list of those that only compute.
 */
export function queryFault(text: string): QueryFault | undefined {
  const words = text.replaceAll(quoted, ' ');
  if (/['"]/.test(words)) return { problem: 'a quote has no end', hint: 'close it' };
  // The database reads them as quotes of names.
  if (words.includes('`')) return { problem: 'it has a backtick', hint: 'put names in double quotes' };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text)) return { problem: 'it has a control character', hint: 'leave it out' };
  if (/--|\/\*|\*\//.test(words))
    return { problem: 'it has a comment', hint: 'leave comments out; write a - -b for a--b' };
  if (words.includes(';')) return { problem: 'it has a semicolon', hint: 'send one query, without a semicolon' };
  if (!isBalanced(words)) return { problem: 'its parentheses do not match', hint: 'each ( needs a )' };
  if (!/^[\s(]*(?:select|with|declare)\s/i.test(words)) {
    return { problem: 'it does not begin with SELECT, WITH or DECLARE', hint: 'only queries are sent' };
  }
  if (isChange(words)) return { problem: 'it changes something', hint: 'only queries are sent' };
  return nameFault(text);
}

/**
 * The text as one query without comments and without the semicolon behind it; spaces replace them, so that all other text keeps its place. A
 * comment that may hold another one stays, and is a fault.
 */
export function withoutComments(text: string): string {
  const bare = text.replaceAll(/'[^']*'|"[^"]*"|--[^\n]*|\/\*[\s\S]*?\*\//g, (found) => {
    const isComment = /^(?:--|\/\*)/.test(found) && !found.slice(2).includes('/*');
    return isComment ? found.replaceAll(/[^\n]/g, ' ') : found;
  });
  return bare.replace(/;(?=\s*$)/, ' ');
}

function isBalanced(words: string): boolean {
  let depth = 0;
  for (const character of words) {
    if (character === '(') depth++;
    else if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

/** The database has WITH before INSERT and UPDATE, too. */
function isChange(words: string): boolean {
  let depth = 0;
  for (const [token] of words.matchAll(/[()]|\b(?:select|insert|update)\b/gi)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth === 0) return token.toLowerCase() !== 'select';
  }
  return false;
}

/** Texts, numbers, names with their dots, marks. */
const tokens =
  /'(?:[^']|'')*'|#[\w#/]*|\d[\p{L}\p{N}_.]*|(?<name>(?:"(?:[^"]|"")*"|[\p{L}_@$][\p{L}\p{N}_$@]*)(?:\.(?:"(?:[^"]|"")*"|[\p{L}\p{N}_$@]+))*)|[(),]/gu;

/** Whether tables or only values may occur: the database takes a function for a table even without its parentheses. */
type Clause = 'tables' | 'values' | 'condition of a join';

const clauses: Readonly<Record<string, Clause>> = {
  with: 'tables',
  declare: 'tables',
  from: 'tables',
  join: 'tables',
  union: 'tables',
  except: 'tables',
  intersect: 'tables',
  select: 'values',
  where: 'values',
  by: 'values',
  // Behind its comma the next table may stand.
  on: 'condition of a join',
};

function nameFault(text: string): QueryFault | undefined {
  const outer: Clause[] = [];
  let clause: Clause = 'tables';
  let isCallNext = false;
  for (const { 0: token, groups, index } of text.matchAll(tokens)) {
    if (token === '(') {
      outer.push(clause);
      if (isCallNext || clause === 'condition of a join') clause = 'values';
    } else if (token === ')') clause = outer.pop() ?? 'tables';
    else if (token === ',' && clause === 'condition of a join') clause = 'tables';
    isCallNext = false;
    const written = groups?.name ?? (token.startsWith("'") && clause === 'tables' ? token : undefined);
    if (written === undefined) continue;
    const name = folded(written);
    const isCall = isBeforeParenthesis(text, index + token.length);
    const isWord = name === written.toLowerCase();
    if (isWord && name === 'show')
      return { problem: 'it has SHOW', hint: `only queries are sent; write "show" for a name` };
    clause = (isWord && Object.hasOwn(clauses, name) ? clauses[name] : undefined) ?? clause;
    if (isCall && !wordsBeforeParenthesis.has(name)) {
      if (!computingFunctions.has(name)) return notAllowed(name);
      isCallNext = true;
    } else if (catalogPrefix.test(name)) return notAllowed(name);
    else if (clause === 'tables' && (catalogs.has(name) || ownTablePrefix.test(name))) return notAllowed(name);
    else if (clause !== 'tables' && valuesOfTheServer.has(name)) return notAllowed(name);
  }
  return undefined;
}

function isBeforeParenthesis(text: string, at: number): boolean {
  const parenthesis = /\s*\(/y;
  parenthesis.lastIndex = at;
  return parenthesis.test(text);
}

/** Without quotes, and without the schema that all tables are in. Some letters have the capitals of others. */
function folded(written: string): string {
  const name = written.replaceAll(/["']/g, '').toUpperCase().toLowerCase();
  return name.replace(/^public\./, '');
}

function notAllowed(name: string): QueryFault {
  return {
    problem: `${name} is not allowed in it`,
    hint: 'it may read tables, and compute with the functions that QuestDB 9.3 has for it; write t.name for a column of such a name',
  };
}
