import { hidingSparkSql, refusedSparkSql } from './spark-sql-corpus.ts';

/** The secrets that a statement would have to reach; no answer may hold any of them. */
export interface ClusterSecrets {
  /** A table of the cluster's own catalog, with a secret in its column `secret`. */
  readonly table: string;
  /** A variable of its environment that holds one, as does the variable of its token. */
  readonly variable: string;
  /** A file that holds one. */
  readonly file: string;
}

/**
 * Statements that try to reach parts of the cluster, or to end it. `every`: of the combinations of a form with its content only
 * each n-th, so that every form and every content still occurs.
 */
export function hostileSparkSql(secrets: ClusterSecrets, { every = 1 } = {}): readonly string[] {
  const combined: Combine = (contents, forms) =>
    contents.flatMap((content, at) => forms(content).filter((_, place) => (at + place) % every === 0));
  const statements = [
    ...variablesIn(secrets, combined),
    ...brokenOut(secrets, combined),
    ...filesNamed(secrets, combined),
    ...tablesNamed(secrets, combined),
    ...codeRun(secrets, combined),
    ...hidingSparkSql.map((sql) => sql.replaceAll('secrets', secrets.table)),
    ...refusedSparkSql.map((sql) => sql.replaceAll('secrets', secrets.table)),
  ];
  return [...new Set(statements)];
}

type Combine = (contents: readonly string[], forms: (content: string) => readonly string[]) => string[];

/** Apart, as together they would look like a part of a template. */
const open = '$'.concat('{');

/** Every kind of variable in every place where text may stand. */
function variablesIn({ variable, table }: ClusterSecrets, combined: Combine): string[] {
  const variables = [
    `env:${variable}`,
    'env:SPARK_CONNECT_AUTHENTICATE_TOKEN',
    'system:user.home',
    'spark.connect.authenticate.token',
    'sparkconf:spark.app.id',
    'hiveconf:spark.sql.warehouse.dir',
    'hivevar:x',
    `env:${open}x}`,
    `${open}env:${variable}}`,
    table,
    '',
  ].map((name) => `${open}${name}}`);
  return combined(variables, (text) => [
    `SELECT '${text}' AS a`,
    `SELECT '\\${text}' AS a`,
    `SELECT '\\\\${text}' AS a`,
    `SELECT '$' '${text.slice(1)}' AS a`,
    `SELECT '\\u0024${text.slice(1)}' AS a`,
    `SELECT '\\044${text.slice(1)}' AS a`,
    `SELECT concat('$', '${text.slice(1)}') AS a`,
    `SELECT r'${text}' AS a`,
    `SELECT R"${text}" AS a`,
    `SELECT "${text}" AS a`,
    `SELECT 1 AS \`${text}\``,
    `SELECT 1 AS a${text}`,
    `SELECT ${text} AS a`,
    `SELECT 1 AS a -- ${text}`,
    `SELECT 1 AS a /* ${text} */`,
    `SELECT /*+ BROADCAST(${text}) */ 1 AS a`,
    `SELECT * FROM ${text}`,
    `SELECT * FROM \`${text}\``,
    `SELECT 'x' LIKE '${text}' AS a`,
    `SELECT 'x' RLIKE '${text}' AS a`,
    `SELECT DATE '${text}' AS a`,
    `SELECT X'${text}' AS a`,
    `SELECT INTERVAL '${text}' DAY AS a`,
    `SELECT CAST('${text}' AS INT) AS a`,
    `SELECT raise_error('${text}') AS a`,
    `SELECT assert_true(false, '${text}') AS a`,
    `SELECT from_json('{"a":"${text}"}', 'a STRING') AS a`,
    `SELECT date_format(now(), '${text}') AS a`,
    `SELECT named_struct('${text}', 1) AS a`,
    `VALUES ('${text}')`,
    `WITH x AS (SELECT '${text}' AS a) SELECT upper(a) AS a FROM x`,
    `SELECT a FROM ids PIVOT (count(*) FOR id IN ('${text}'))`,
    `CREATE TABLE taken AS SELECT '${text}' AS a`,
    `INSERT INTO taken VALUES ('${text}')`,
    `INSERT INTO taken BY NAME SELECT '${text}' AS a`,
    `DESCRIBE SELECT '${text}' AS \`${text}\``,
    `DESCRIBE ${text}`,
  ]);
}

/** The rest of a statement if a variable vanishes, or becomes another text. */
function brokenOut({ table, file }: ClusterSecrets, combined: Combine): string[] {
  const payloads = [
    `secret FROM ${table}`,
    `(SELECT max(secret) FROM ${table}) AS s`,
    "reflect('java.lang.System', 'getenv', 'SPARK_CONNECT_AUTHENTICATE_TOKEN') AS s",
    "java_method('java.lang.System', 'exit', 0) AS s",
    `* FROM text.\`${file}\``,
    `1 AS b UNION ALL SELECT secret FROM ${table}`,
  ];
  return combined(payloads, (payload) => [
    `SELECT '\\${open}x}' AS a, ' AS a, ${payload} --' AS b`,
    `SELECT '\\${open}x}' AS a, ' AS a, ${payload} /*' AS b, '*/ -- ' AS c`,
    `SELECT '${open}x}\\' AS a, ' AS a, ${payload} --' AS b`,
    `SELECT '${open}y:-\\}' AS a, ' AS a, ${payload} --' AS b`,
    `SELECT 'a\\\\' AS a, ' AS b, ${payload} --' AS c`,
    `SELECT 'a\\' AS a, ' AS b, ${payload} --' AS c`,
    `SELECT r'a\\' AS a, ' AS b, ${payload} --' AS c`,
    `SELECT r'a\\\\' AS a, r' AS b, ${payload} --' AS c`,
    `SELECT 'a''' AS a, ' AS b, ${payload} --' AS c`,
    `SELECT "a\\" AS a, " AS b, ${payload} --" AS c`,
    `SELECT "a""" AS a, ", ${payload} --" AS c`,
    `SELECT 'a' "' AS a, ${payload} --" AS b`,
    `SELECT \`a\`\` AS a, \`, ${payload} --\` AS b`,
    `SELECT U&'\\0027 AS a, ${payload} --' AS b`,
    `SELECT E'\\' AS a, ${payload} --' AS b`,
    `SELECT N'\\' AS a, ${payload} --' AS b`,
    `SELECT '\\u0027 AS a, ${payload} --' AS b`,
    `SELECT '\\047 AS a, ${payload} --' AS b`,
    `SELECT $$' AS a, ${payload} --$$ AS b`,
    `SELECT 1 AS a -- \\\n, ${payload}`,
    `SELECT 1 AS a /* /*/ */, ${payload} -- */ */`,
    `SELECT 1 AS a /*+ */, ${payload} -- */`,
    `SELECT 1 AS a /* \\*/, ${payload} -- */`,
    `SELECT :p AS a, '${payload}' AS b`,
    `SELECT 1 AS a; SELECT ${payload}`,
    `SELECT 1 AS a\u0000, ${payload}`,
    `SELECT 1 AS a\u2028, ${payload}`,
    `SELECT 1 AS a\u000b, ${payload}`,
    `INSERT OVERWRITE DIRECTORY '/tmp/framehold-stolen' USING csv SELECT ${payload}`,
    `CREATE TABLE stolen AS SELECT '\\${open}x}' AS a, ' AS a, ${payload} --' AS b`,
    `INSERT INTO stolen SELECT '\\${open}x}' AS a, ' AS a, ${payload} --' AS b`,
    `INSERT INTO stolen (a, b) SELECT 'a', ${payload}`,
    `DESCRIBE SELECT '\\${open}x}' AS a, ' AS a, ${payload} --' AS b`,
    `DESCRIBE ids; SELECT ${payload}`,
  ]);
}

function filesNamed({ file }: ClusterSecrets, combined: Combine): string[] {
  const formats = ['parquet', 'csv', 'json', 'text', 'orc', 'avro', 'binaryFile', 'xml', 'delta', 'jdbc', 'arrow'];
  return [
    ...combined(formats, (format) => [
      `SELECT * FROM ${format}.\`${file}\``,
      `SELECT * FROM ${format}.\`file://${file}\``,
      `SELECT * FROM \`${format}\`.\`${file}\``,
      `TABLE ${format}.\`${file}\``,
      `DESCRIBE ${format}.\`${file}\``,
      `INSERT INTO taken SELECT * FROM ${format}.\`${file}\``,
    ]),
    `SELECT * FROM \`${file}\``,
    `SELECT * FROM '${file}'`,
    `SELECT * FROM read_files('${file}')`,
    `SELECT * FROM read_csv('${file}')`,
    `SELECT * FROM range(1) WHERE EXISTS (SELECT 1 FROM text.\`${file}\`)`,
    `LOAD DATA LOCAL INPATH '${file}' INTO TABLE ids`,
    `ADD FILE '${file}'`,
    `LIST FILES`,
    'DESCRIBE TABLE EXTENDED ids',
    'DESCRIBE FORMATTED ids',
    'DESCRIBE SELECT _metadata FROM ids',
    'EXPLAIN EXTENDED SELECT * FROM ids',
    'EXPLAIN FORMATTED SELECT * FROM ids',
    `SELECT xpath('<a/>', '${file}') AS a`,
    `SELECT from_avro(X'00', '${file}') AS a`,
    `SELECT input_file_name() AS a FROM ids`,
    `SELECT _metadata.file_path AS a FROM ids`,
    `SELECT ids._metadata FROM ids`,
    `SELECT * FROM ids VERSION AS OF 1`,
  ];
}

function tablesNamed({ table }: ClusterSecrets, combined: Combine): string[] {
  const names = [
    `default.${table}`,
    `spark_catalog.default.${table}`,
    `\`spark_catalog\`.\`default\`.\`${table}\``,
    `\`default.${table}\``,
    `IDENTIFIER('${table}')`,
    `IDENTIFIER(:p)`,
    table.toUpperCase(),
    `\`${table}\``,
    `"${table}"`,
    `global_temp.${table}`,
    `session.${table}`,
    `system.session.${table}`,
    'information_schema.tables',
    'system.information_schema.tables',
  ];
  return combined(names, (name) => [
    `SELECT * FROM ${name}`,
    `SELECT (SELECT max(secret) FROM ${name}) AS a`,
    `SELECT 1 AS a WHERE EXISTS (SELECT 1 FROM ${name} WHERE secret LIKE 'a%')`,
    `SELECT * FROM ids JOIN LATERAL (SELECT * FROM ${name})`,
    `WITH ${table} AS (SELECT * FROM ${name}) SELECT * FROM ${table}`,
    `CREATE TABLE stolen AS SELECT * FROM ${name}`,
  ]);
}

function codeRun({ variable }: ClusterSecrets, combined: Combine): string[] {
  const calls = [
    'reflect',
    'java_method',
    'try_reflect',
    '`reflect`',
    'REFLECT',
    'system.builtin.reflect',
    'builtin.reflect',
  ];
  return [
    ...combined(calls, (name) => [
      `SELECT ${name}('java.lang.System', 'getenv', '${variable}') AS a`,
      `SELECT transform(array(1), x -> ${name}('java.lang.System', 'getenv', '${variable}')) AS a`,
      `SELECT * FROM ids WHERE ${name}('java.lang.System', 'exit', '1') = ''`,
    ]),
    'SET',
    'SET -v',
    'SET spark.connect.authenticate.token',
    'SET spark.sql.variable.substitute=true',
    'SELECT current_user() AS a, current_catalog() AS b, current_database() AS c, version() AS d',
    'SELECT * FROM sql_keywords()',
    "SELECT TRANSFORM (id) USING 'cat /etc/passwd' AS (a) FROM ids",
    "CREATE FUNCTION f AS 'java.lang.System'",
    'CREATE TEMPORARY VIEW v USING csv OPTIONS (path "/etc/passwd")',
    "EXECUTE IMMEDIATE 'SELECT 1'",
    'BEGIN SELECT 1; END',
  ];
}
