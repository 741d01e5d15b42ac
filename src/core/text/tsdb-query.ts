/** Why a text is not one query of the external database's dialect that may be sent. */
export interface QueryFault {
  readonly problem: string;
  readonly hint: string;
}

/** Texts and quoted names. Doubled quotes read as two of them, one behind the other, which hides the same. */
const quoted = /'[^']*'|"[^"]*"/g;

/**
 * What is wrong with a text as one query (SELECT, WITH or DECLARE) in the dialect of the external database; undefined: nothing. It has no
 * comments: their ends are not the same to all who read them. Its functions only compute or read tables.
 */
export function queryFault(text: string): QueryFault | undefined {
  const bare = text.replaceAll(quoted, (found) => (found.startsWith('"') ? ` ${found.slice(1, -1)} ` : " '' "));
  const words = text.replaceAll(quoted, ' ');
  if (/['"]/.test(words)) return { problem: 'a quote has no end', hint: 'close it' };
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
  const refused = refusedName(bare);
  if (refused !== undefined) {
    return { problem: `${refused} is not allowed in it`, hint: 'read tables, and compute with their columns' };
  }
  return undefined;
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

/**
 * Functions that read or write files, do something, or tell of the process, of other statements and of who is logged in. QuestDB reads some
 * of them without parentheses, too.
 */
const refusedNames: ReadonlySet<string> = new Set(
  `read_parquet parquet_scan files glob import_files export_files cancel_query flush_query_cache reload_config touch
  hydrate_table_metadata simulate_crash simulate_warnings dump_memory_usage dump_thread_stacks query_activity export_activity
  memory_metrics reader_pool writer_pool table_writer_metrics checkpoint_status current_user session_user current_setting
  current_data_id txid_current wal_tables wal_transactions wait_wal_table table_storage table_partitions`.split(/\s+/),
);
/** Catalogs of other databases, which are made of such functions, and tables of QuestDB's own. */
const refusedBeginnings = /^(?:pg_|information_schema\.|sys\.|telemetry|_query_trace)/;

function refusedName(bare: string): string | undefined {
  for (const [name] of bare.matchAll(/[\p{L}_][\p{L}\p{N}_$.]*/gu)) {
    const lower = name.toLowerCase();
    if (refusedNames.has(lower) || refusedBeginnings.test(lower)) return lower;
  }
  return undefined;
}
