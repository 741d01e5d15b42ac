/** A statement about the session itself, which no engine sees. */
export interface SessionStatement {
  /** The engine that statements of the session run on from now on; undefined: the default. */
  readonly engine: string | undefined;
}

const setEngine = /^\s*SET\s+(?:SESSION\s+)?engine\s*(?:=|\bTO\b)\s*(?:'([^']*)'|"([^"]*)"|([a-z][\w-]*))\s*;?\s*$/i;
const resetEngine = /^\s*RESET\s+engine\s*;?\s*$/i;

/** Others are not meant for us, and patterns take long where there are many blanks. */
const longestStatement = 200;

/** `SET engine = 'spark'`, `SET engine TO spark`, `SET engine = DEFAULT`, `RESET engine`. Undefined: something else. */
export function readSessionStatement(sql: string): SessionStatement | undefined {
  if (sql.length > longestStatement) return undefined;
  if (resetEngine.test(sql)) return { engine: undefined };
  const match = setEngine.exec(sql);
  if (match === null) return undefined;
  const [, quoted, doubleQuoted, bare] = match;
  if (bare?.toLowerCase() === 'default') return { engine: undefined };
  return { engine: quoted ?? doubleQuoted ?? bare?.toLowerCase() };
}
