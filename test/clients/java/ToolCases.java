import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import com.zaxxer.hikari.HikariDataSource;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.codegen.GenerationTool;
import org.jooq.conf.Settings;
import org.jooq.conf.StatementType;
import org.jooq.impl.DSL;
import org.jooq.meta.jaxb.Configuration;
import org.jooq.meta.jaxb.Database;
import org.jooq.meta.jaxb.Generator;
import org.jooq.meta.jaxb.Jdbc;
import org.jooq.meta.jaxb.Target;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.core.simple.SimpleJdbcInsert;
import schemacrawler.inclusionrule.RegularExpressionInclusionRule;
import schemacrawler.schema.Catalog;
import schemacrawler.schema.Column;
import schemacrawler.schema.Table;
import schemacrawler.schemacrawler.LimitOptionsBuilder;
import schemacrawler.schemacrawler.LoadOptionsBuilder;
import schemacrawler.schemacrawler.SchemaCrawlerOptions;
import schemacrawler.schemacrawler.SchemaCrawlerOptionsBuilder;
import schemacrawler.schemacrawler.SchemaInfoLevelBuilder;
import schemacrawler.tools.utility.SchemaCrawlerUtility;
import sqlline.SqlLine;
import us.fatehi.utility.datasource.DatabaseConnectionSource;
import us.fatehi.utility.datasource.DatabaseConnectionSources;
import us.fatehi.utility.datasource.MultiUseUserCredentials;

/** Programs and libraries over the Flight SQL driver of JDBC. Arguments: the gRPC address and the HTTP address of a server. */
public class ToolCases extends CaseProgram {
  private final String url;

  ToolCases(String[] args) throws SQLException {
    url = "jdbc:arrow-flight-sql://" + args[0] + "/?useEncryption=false";
    try (Connection connection = connect()) {
      tell(connection, "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer VARCHAR NOT NULL, amount DECIMAL(10,2), placed TIMESTAMP)");
      tell(connection, "INSERT INTO orders SELECT range, 'customer ' || range % 3, range * 1.25, '2026-01-31 12:00:00' FROM range(9)");
    }
  }

  public static void main(String[] args) throws Exception {
    new ToolCases(args).answerNames();
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  // sqlline.

  /** What it prints, with the commands as its lines of input. */
  private List<String> sqlline(String... commands) throws Exception {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    SqlLine program = new SqlLine();
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    program.setOutputStream(out);
    program.setErrorStream(out);
    List<String> args = new ArrayList<>(List.of("-u", url, "-n", "anyone", "-p", "", "--silent=true", "--outputformat=csv"));
    for (String command : commands) args.addAll(List.of("-e", command));
    program.begin(args.toArray(String[]::new), new ByteArrayInputStream(new byte[0]), false);
    return printed.toString(StandardCharsets.UTF_8).lines().toList();
  }

  @Case("sqlline lists tables, views and columns, whichever way their names are written")
  void sqllineMetadata() throws Exception {
    List<String> printed = sqlline("CREATE VIEW few_orders AS SELECT id FROM orders WHERE id < 3;", "!tables", "!columns ORDERS");
    isTrue(printed.stream().anyMatch(line -> line.startsWith("'framehold','frames','few_orders','VIEW'")), printed);
    isTrue(printed.stream().anyMatch(line -> line.startsWith("'framehold','frames','orders','TABLE'")), printed);
    List<String> columns = printed.stream().filter(line -> line.startsWith("'framehold','frames','orders','") && !line.contains("'TABLE'")).toList();
    equal(columns.stream().map(line -> line.split("','")[3]).toList(), List.of("id", "customer", "amount", "placed"));
  }

  @Case("sqlline runs statements and prints rows")
  void sqllineStatements() throws Exception {
    List<String> printed = sqlline(
        "CREATE TABLE from_sqlline (id BIGINT, name VARCHAR);",
        "INSERT INTO from_sqlline VALUES (1, 'one'), (2, NULL);",
        "SELECT id, name FROM from_sqlline ORDER BY id;",
        "DROP TABLE from_sqlline;");
    equal(printed.stream().filter(line -> line.startsWith("'")).toList(), List.of("'id','name'", "'1','one'", "'2',''"));
  }

  // SchemaCrawler.

  @Case("SchemaCrawler finds tables, columns with their types, and primary keys")
  void schemaCrawler() throws Exception {
    SchemaCrawlerOptions options = SchemaCrawlerOptionsBuilder.newSchemaCrawlerOptions()
        .withLimitOptions(
            LimitOptionsBuilder.builder().includeTables(new RegularExpressionInclusionRule(".*\\.orders")).toOptions())
        .withLoadOptions(
            LoadOptionsBuilder.builder().withSchemaInfoLevel(SchemaInfoLevelBuilder.standard()).toOptions());
    DatabaseConnectionSource source = DatabaseConnectionSources.newDatabaseConnectionSource(url, new MultiUseUserCredentials("anyone", ""));
    try (source) {
      Catalog catalog = SchemaCrawlerUtility.getCatalog(source, options);
      equal(catalog.getDatabaseInfo().getDatabaseProductName(), "Framehold");
      List<String> columns = new ArrayList<>();
      for (Table found : catalog.getTables()) {
        for (Column column : found.getColumns()) {
          String size = column.getSize() + "," + column.getDecimalDigits();
          columns.add(column.getFullName() + " " + column.getColumnDataType().getName() + " " + size
              + (column.isNullable() ? "" : " NOT NULL") + (column.isPartOfPrimaryKey() ? " KEY" : ""));
        }
      }
      equal(columns, List.of(
          "framehold.frames.orders.id BIGINT 19,0 NOT NULL KEY",
          "framehold.frames.orders.customer VARCHAR 65536,0 NOT NULL",
          "framehold.frames.orders.amount DECIMAL 10,2",
          "framehold.frames.orders.placed TIMESTAMP 26,6"));
    }
  }

  // jOOQ.

  @Case("jOOQ's meta() finds tables, columns and primary keys, as of any database and as of DuckDB")
  void jooqMeta() throws Exception {
    try (Connection connection = connect()) {
      for (SQLDialect dialect : List.of(SQLDialect.DEFAULT, SQLDialect.DUCKDB)) {
        List<org.jooq.Table<?>> tables = DSL.using(connection, dialect).meta().getTables("orders");
        equal(tables.size(), 1);
        equal(tables.get(0).getSchema().getName(), "frames");
        equal(tables.get(0).getPrimaryKey().getFields().stream().map(Field::getName).toList(), List.of("id"));
        equal(
            Stream.of(tables.get(0).fields()).map(column -> column.getName() + " " + column.getType().getSimpleName()).toList(),
            List.of("id Long", "customer String", "amount BigDecimal", "placed Timestamp"));
      }
    }
  }

  @Case("jOOQ builds queries, inserts, updates and deletes, and binds their values; it learns the number of rows from static statements")
  void jooqStatements() throws Exception {
    try (Connection connection = connect()) {
      DSLContext jooq = DSL.using(connection, SQLDialect.DUCKDB);
      jooq.execute("CREATE TABLE from_jooq (id BIGINT, amount DECIMAL(10,2))");
      var frame = table(name("frames", "from_jooq"));
      var id = field(name("id"), Long.class);
      var amount = field(name("amount"), BigDecimal.class);
      var insert = jooq.insertInto(frame, id, amount).values(1L, new BigDecimal("1.25")).values(2L, new BigDecimal("2.50"));
      // `PreparedStatement.execute` of the driver does not tell it.
      equal(insert.execute(), 0);
      DSLContext unprepared = DSL.using(connection, SQLDialect.DUCKDB, new Settings().withStatementType(StatementType.STATIC_STATEMENT));
      equal(unprepared.insertInto(frame, id, amount).values(3L, new BigDecimal("3.75")).execute(), 1);
      equal(unprepared.update(frame).set(amount, amount.plus(new BigDecimal("1.00"))).where(id.eq(1L)).execute(), 1);
      equal(unprepared.deleteFrom(frame).where(id.eq(9L)).execute(), 0);
      equal(jooq.select(id).from(frame).where(amount.gt(new BigDecimal("2"))).orderBy(id).fetch(id), List.of(1L, 2L, 3L));
      equal(jooq.fetchCount(frame), 3);
      equal(jooq.select(count()).from(frame).where(id.in(1L, 2L, 9L)).limit(1).fetchOne(0, int.class), 2);
      jooq.dropTable(frame).execute();
    }
  }

  @Case("jOOQ generates classes for tables, by the metadata of JDBC and by DuckDB's catalogs")
  void jooqCodegen() throws Exception {
    Path folder = Files.createTempDirectory("framehold-jooq-");
    try {
      for (String name : List.of("jdbc.JDBCDatabase", "duckdb.DuckDBDatabase")) {
        Database from = new Database().withName("org.jooq.meta." + name).withIncludes("(framehold\\.)?frames\\.orders");
        GenerationTool.generate(new Configuration()
            .withJdbc(new Jdbc().withDriver("org.apache.arrow.driver.jdbc.ArrowFlightJdbcDriver").withUrl(url))
            .withGenerator(new Generator()
                .withDatabase(from)
                .withTarget(new Target().withPackageName("generated").withDirectory(folder.toString()))));
        Path tables = folder.resolve(name.startsWith("jdbc") ? "generated" : "generated/framehold/frames");
        String keys = Files.readString(tables.resolve("Keys.java"));
        isTrue(keys.contains("new TableField[] { Orders.ORDERS.ID }, true)"), keys);
        String orders = Files.readString(tables.resolve("tables/Orders.java"));
        for (String line : List.of("<OrdersRecord, Long> ID", "<OrdersRecord, BigDecimal> AMOUNT", "<OrdersRecord, LocalDateTime> PLACED", "(10, 2)")) {
          isTrue(orders.contains(line), "no \"" + line + "\" in " + orders);
        }
      }
    } finally {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path path : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(path);
      }
    }
  }

  // Spring over a pool.

  private HikariDataSource pool() {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(url);
    pool.setMaximumPoolSize(2);
    return pool;
  }

  @Case("a HikariCP pool lends connections again, checked and reset")
  void hikari() throws Exception {
    try (HikariDataSource pool = pool()) {
      for (int turn = 0; turn < 5; turn++) {
        try (Connection one = pool.getConnection(); Connection two = pool.getConnection()) {
          isTrue(one.isValid(1) && two.isValid(1), "valid");
          equal(ask(one, "SELECT count(*) FROM orders"), ask(two, "SELECT 9"));
        }
      }
      equal(pool.getHikariPoolMXBean().getTotalConnections(), 2);
    }
  }

  @Case("Spring's JdbcTemplate queries, inserts one by one and in batches, updates and deletes")
  void jdbcTemplate() throws Exception {
    try (HikariDataSource pool = pool()) {
      JdbcTemplate template = new JdbcTemplate(pool);
      template.execute("CREATE TABLE from_spring (id BIGINT, name VARCHAR)");
      equal(template.update("INSERT INTO from_spring VALUES (?, ?)", 1L, "one"), 1);
      template.batchUpdate("INSERT INTO from_spring VALUES (?, ?)", List.of(new Object[] {2L, "two"}, new Object[] {3L, null}));
      equal(template.queryForObject("SELECT count(*) FROM from_spring", Long.class), 3L);
      equal(template.queryForList("SELECT name FROM from_spring WHERE id > ? ORDER BY id", String.class, 0L), Arrays.asList("one", "two", null));
      equal(template.update("UPDATE from_spring SET name = ? WHERE id = ?", "one more", 1L), 1);
      equal(template.update("DELETE FROM from_spring WHERE id = ?", 2L), 1);
      NamedParameterJdbcTemplate named = new NamedParameterJdbcTemplate(pool);
      equal(named.queryForObject("SELECT name FROM from_spring WHERE id IN (:ids) AND name LIKE :like", Map.of("ids", List.of(1, 2, 3), "like", "o%"), String.class), "one more");
      template.execute("DROP TABLE from_spring");
    }
  }

  @Case("Spring's SimpleJdbcInsert finds the columns of a table itself")
  void simpleJdbcInsert() throws Exception {
    try (HikariDataSource pool = pool()) {
      JdbcTemplate template = new JdbcTemplate(pool);
      template.execute("CREATE TABLE from_simple (id BIGINT, name VARCHAR, amount DECIMAL(10,2))");
      SimpleJdbcInsert insert = new SimpleJdbcInsert(pool).withTableName("from_simple");
      equal(insert.execute(Map.of("name", "one", "id", 1L, "amount", new BigDecimal("1.25"))), 1);
      insert.executeBatch(Map.of("id", 2L, "name", "two", "amount", new BigDecimal("2.50")), Map.of("id", 3L));
      equal(template.queryForList("SELECT id || ' ' || coalesce(name, '') || ' ' || coalesce(amount, 0) FROM from_simple ORDER BY id", String.class),
          List.of("1 one 1.25", "2 two 2.50", "3  0.00"));
      template.execute("DROP TABLE from_simple");
    }
  }
}
