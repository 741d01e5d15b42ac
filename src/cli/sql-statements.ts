export interface SplitText {
  /** Without the semicolons, and without those that say nothing. */
  readonly statements: readonly string[];
  /** What follows the last semicolon. */
  readonly rest: string;
}

/** What hides a semicolon: comments, texts, quoted names, and texts between dollar signs. */
const hidden = [
  /--[^\n]*/y,
  /\/\*[\s\S]*?\*\//y,
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*'/y,
  /'(?:[^']|'')*'/y,
  /"(?:[^"]|"")*"/y,
  /(\$(?:[a-zA-Z_]\w*)?\$)[\s\S]*?\1/y,
];
/** The same where the end has not come yet. */
const opened = /--|\/\*|'|"|\$(?:[a-zA-Z_]\w*)?\$/y;
const word = /[\w$]+/y;

/** Cuts a text into statements at its semicolons. */
export function splitStatements(text: string): SplitText {
  const statements: string[] = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    if (text[at] === ';') {
      const statement = text.slice(from, at).trim();
      if (!isBlank(statement)) statements.push(statement);
      from = ++at;
      continue;
    }
    const end = endOfHidden(text, at);
    if (end === undefined) break;
    at = end;
  }
  return { statements, rest: text.slice(from) };
}

/** Nothing but space and comments. */
export function isBlank(text: string): boolean {
  return text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() === '';
}

/** Where to look on: behind what is hidden or behind one character. Undefined where something hidden has no end. */
function endOfHidden(text: string, at: number): number | undefined {
  for (const pattern of hidden) {
    pattern.lastIndex = at;
    if (pattern.test(text)) return pattern.lastIndex;
  }
  opened.lastIndex = at;
  if (opened.test(text)) return undefined;
  // A name may hold a dollar sign, or end with an e before a text.
  word.lastIndex = at;
  return word.test(text) && !/^[eE]'/.test(text.slice(at, at + 2)) ? word.lastIndex : at + 1;
}
