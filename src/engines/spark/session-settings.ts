import type { SessionSettings } from '@framehold/spark-connect';

export const timeZoneSetting = 'spark.sql.session.timeZone';
export const standardTimeZone = 'UTC';

/**
 * Settings that change the meaning of a text. A session that does not keep all of these is not used: its server could run another
 * statement than the checked one.
 */
const pinned: Readonly<Record<string, string>> = {
  // Otherwise Spark replaces ${…} with values of its environment, its settings and other callers' text.
  'spark.sql.variable.substitute': 'false',
  // Values of parameters become literals of the text, escaped as the settings below say. The other way loses them where a
  // query reads no table (4.1.4).
  'spark.sql.legacy.parameterSubstitution.constantsOnly': 'false',
  // There is none of this name: a table that the plan does not bring along is found nowhere.
  'spark.sql.defaultCatalog': 'framehold_has_no_catalog',
  'spark.sql.runSQLOnFiles': 'false',
  'spark.sql.scripting.enabled': 'false',
  'spark.sql.operatorPipeSyntaxEnabled': 'false',
  'spark.sql.parser.escapedStringLiterals': 'false',
  'spark.sql.parser.quotedRegexColumnNames': 'false',
  'spark.sql.caseSensitive': 'false',
  'spark.sql.ansi.enabled': 'true',
  'spark.sql.ansi.doubleQuotedIdentifiers': 'true',
  'spark.sql.ansi.enforceReservedKeywords': 'false',
  'spark.sql.ansi.relationPrecedence': 'false',
  'spark.sql.groupByAliases': 'true',
  'spark.sql.groupByOrdinal': 'true',
  'spark.sql.orderByOrdinal': 'true',
  'spark.sql.legacy.bangEqualsNot': 'false',
  'spark.sql.legacy.consecutiveStringLiterals.enabled': 'false',
  'spark.sql.legacy.ctePrecedencePolicy': 'CORRECTED',
  'spark.sql.legacy.exponentLiteralAsDecimal.enabled': 'false',
  'spark.sql.legacy.interval.enabled': 'false',
  'spark.sql.legacy.parser.havingWithoutGroupByAsWhere': 'false',
  'spark.sql.legacy.setopsPrecedence.enabled': 'false',
  'spark.sql.legacy.timeParserPolicy': 'CORRECTED',
  'spark.sql.timestampType': 'TIMESTAMP_LTZ',
  [timeZoneSetting]: standardTimeZone,
};

/** Further settings of every session. A server that does not know one of them ignores it. */
const other: Readonly<Record<string, string>> = {
  'spark.sql.timeType.enabled': 'true',
  'spark.sql.legacy.parquet.nanosAsLong': 'true',
  'spark.sql.parquet.outputTimestampType': 'TIMESTAMP_MICROS',
  'spark.sql.files.ignoreMissingFiles': 'false',
  'spark.sql.files.ignoreCorruptFiles': 'false',
  // Above this number of files Spark starts a job only to list them.
  'spark.sql.sources.parallelPartitionDiscovery.threshold': '1000',
  // Spark's own 10,000 makes many small messages of a large result; it bounds their bytes besides.
  'spark.sql.execution.arrow.maxRecordsPerBatch': '50000',
};

export const sessionSettings: SessionSettings = { pinned, other };
