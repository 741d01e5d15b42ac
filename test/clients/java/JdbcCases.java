import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Time;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The Flight SQL driver of JDBC, used as DBeaver and others use it. Arguments: the gRPC address and the HTTP address of a server
 * with a frame `every_type`, the gRPC address of a server with TLS and tokens, and the folder with what its clients have.
 */
public class JdbcCases extends CaseProgram {
  private final String address;
  private final String secureAddress;
  private final Path folder;
  private int count = 0;

  JdbcCases(String[] args) {
    address = args[0];
    secureAddress = args[2];
    folder = Path.of(args[3]);
  }

  public static void main(String[] args) throws Exception {
    new JdbcCases(args).answerNames();
  }

  // What cases are made of.

  private Connection connect(String... more) throws SQLException {
    return DriverManager.getConnection("jdbc:arrow-flight-sql://" + address + "/?useEncryption=false" + String.join("", more));
  }

  /** To the server with TLS: names and values of properties. */
  private Connection connectSecurely(String... pairs) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("tlsRootCerts", folder.resolve("ca.crt").toString());
    for (int n = 0; n < pairs.length; n += 2) properties.setProperty(pairs[n], pairs[n + 1]);
    return DriverManager.getConnection("jdbc:arrow-flight-sql://" + secureAddress, properties);
  }

  private String secret(String name) throws IOException {
    return Files.readString(folder.resolve(name)).trim();
  }

  private String[] certificate(String name) {
    return new String[] {
      "clientCertificate", folder.resolve(name + ".crt").toString(), "clientKey", folder.resolve(name + ".key").toString()
    };
  }

  private String fresh() {
    return "jdbc_" + ++count;
  }

  // Connecting.

  @Case("connecting without credentials works")
  void connects() throws Exception {
    try (Connection connection = connect()) {
      equal(ask(connection, "SELECT 1"), List.of("1"));
      isTrue(connection.isValid(5), "valid");
      isTrue(connection.getAutoCommit(), "autocommit");
    }
  }

  @Case("connecting with name and password works")
  void connectsWithPassword() throws Exception {
    Properties properties = new Properties();
    properties.put("user", "somebody");
    properties.put("password", "secret");
    properties.put("useEncryption", "false");
    try (Connection connection = DriverManager.getConnection("jdbc:arrow-flight-sql://" + address, properties)) {
      equal(ask(connection, "SELECT 1"), List.of("1"));
    }
  }

  @Case("connecting with a token works")
  void connectsWithToken() throws Exception {
    try (Connection connection = connect("&token=some.token")) {
      equal(ask(connection, "SELECT 1"), List.of("1"));
    }
  }

  @Case("connecting to the catalog of the frames works, and to another it fails")
  void connectsToCatalog() throws Exception {
    Connection connection = connect("&catalog=framehold");
    equal(ask(connection, "SELECT 1"), List.of("1"));
    // The driver ends its session twice, the second time after its channel is closed.
    fails(connection::close, "Channel shutdown invoked");
    fails(() -> connect("&catalog=elsewhere").close(), "elsewhere");
  }

  @Case("a connection answers what tools ask of it")
  void connectionState() throws Exception {
    try (Connection connection = connect()) {
      connection.getCatalog();
      connection.getSchema();
      connection.getClientInfo();
      connection.getTransactionIsolation();
      equal(connection.getWarnings(), null);
      connection.isReadOnly();
      connection.setAutoCommit(true);
      connection.setReadOnly(false);
      isTrue(!connection.isClosed(), "open");
      connection.close();
      isTrue(connection.isClosed(), "closed");
    }
  }

  // Metadata, as DBeaver asks for it.

  @Case("the product is told")
  void product() throws Exception {
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      equal(metadata.getDatabaseProductName(), "Framehold");
      isTrue(metadata.getDatabaseProductVersion().matches("\\d+\\.\\d+\\.\\d+.*"), metadata.getDatabaseProductVersion());
      equal(metadata.getIdentifierQuoteString(), "\"");
    }
  }

  @Case("every question of metadata without arguments has an answer")
  void plainMetadata() throws Exception {
    List<String> failed = new ArrayList<>();
    int asked = 0;
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      for (Method method : DatabaseMetaData.class.getMethods()) {
        if (method.getParameterCount() > 0 || method.getDeclaringClass() != DatabaseMetaData.class) continue;
        asked++;
        try {
          Object answer = method.invoke(metadata);
          if (answer instanceof ResultSet result) rows(result);
        } catch (InvocationTargetException thrown) {
          failed.add(method.getName() + ": " + thrown.getCause());
        }
      }
    }
    isTrue(asked > 100, asked);
    equal(failed, List.of());
  }

  @Case("what the server can and cannot do is told truly")
  void abilities() throws Exception {
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      isTrue(metadata.supportsGroupBy(), "GROUP BY");
      isTrue(metadata.supportsOuterJoins(), "outer joins");
      isTrue(metadata.supportsUnion(), "UNION");
      isTrue(metadata.supportsCorrelatedSubqueries(), "correlated subqueries");
      isTrue(!metadata.supportsStoredProcedures(), "no stored procedures");
      isTrue(!metadata.isReadOnly(), "not read-only");
      isTrue(!metadata.getSQLKeywords().isEmpty(), "keywords");
    }
  }

  @Case("the catalogs are told")
  void catalogs() throws Exception {
    try (Connection connection = connect()) {
      List<String> catalogs = rows(connection.getMetaData().getCatalogs(), "TABLE_CAT");
      isTrue(catalogs.contains("framehold"), catalogs);
    }
  }

  @Case("the schemas are told, all or those of a catalog")
  void schemas() throws Exception {
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      List<String> all = rows(metadata.getSchemas(), "TABLE_CATALOG", "TABLE_SCHEM");
      isTrue(all.contains("framehold,frames"), all);
      equal(rows(metadata.getSchemas("framehold", "fra%"), "TABLE_SCHEM"), List.of("frames"));
      equal(rows(metadata.getSchemas("framehold", "nobody"), "TABLE_SCHEM"), List.of());
    }
  }

  @Case("the types of tables are told")
  void tableTypes() throws Exception {
    try (Connection connection = connect()) {
      List<String> types = rows(connection.getMetaData().getTableTypes(), "TABLE_TYPE");
      isTrue(types.contains("TABLE"), types);
    }
  }

  @Case("the tables are told, all or those that a pattern and a type select")
  void tables() throws Exception {
    String[] names = {"TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE"};
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      String expected = "framehold,frames,every_type,TABLE";
      isTrue(rows(metadata.getTables(null, null, "%", null), names).contains(expected), "all");
      isTrue(rows(metadata.getTables(null, null, null, null), names).contains(expected), "no pattern");
      equal(rows(metadata.getTables("framehold", "frames", "every_t%", new String[] {"TABLE", "VIEW"}), names), List.of(expected));
      equal(rows(metadata.getTables("framehold", "frames", "every_type", new String[] {"VIEW"}), names), List.of());
      equal(rows(metadata.getTables("framehold", "nobody", "%", null), names), List.of());
    }
  }

  @Case("the columns of a table are told with their types")
  void columns() throws Exception {
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      List<String> columns = rows(
          metadata.getColumns("framehold", "frames", "every_type", "%"), "ORDINAL_POSITION", "COLUMN_NAME", "DATA_TYPE", "IS_NULLABLE");
      equal(columns.get(0), "1,bool," + Types.BOOLEAN + ",YES");
      isTrue(columns.contains("5,int64," + Types.BIGINT + ",YES"), columns);
      equal(rows(metadata.getColumns(null, null, "every_type", "utf8"), "COLUMN_NAME", "DATA_TYPE"), List.of("utf8," + Types.VARCHAR));
      equal(
          rows(metadata.getColumns(null, null, "every_type", "decimal128"), "COLUMN_SIZE", "DECIMAL_DIGITS"), List.of("38,0"));
    }
  }

  @Case("catalogs, schemas and tables are found by names in upper case, as Spring and sqlline ask for them")
  void upperCase() throws Exception {
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      equal(rows(metadata.getSchemas("FRAMEHOLD", "FRAMES"), "TABLE_SCHEM"), List.of("frames"));
      equal(rows(metadata.getTables("FRAMEHOLD", "FRAMES", "EVERY_TYPE", null), "TABLE_NAME"), List.of("every_type"));
      equal(rows(metadata.getColumns(null, "FRAMES", "EVERY_TYPE", "utf8"), "COLUMN_NAME"), List.of("utf8"));
    }
  }

  @Case("keys, indexes, procedures and privileges are asked for in vain, not with an error")
  void noKeys() throws Exception {
    try (Connection connection = connect()) {
      DatabaseMetaData metadata = connection.getMetaData();
      equal(rows(metadata.getPrimaryKeys("framehold", "frames", "every_type")), List.of());
      equal(rows(metadata.getImportedKeys("framehold", "frames", "every_type")), List.of());
      equal(rows(metadata.getExportedKeys("framehold", "frames", "every_type")), List.of());
      equal(rows(metadata.getCrossReference("framehold", "frames", "every_type", "framehold", "frames", "every_type")), List.of());
      equal(rows(metadata.getIndexInfo("framehold", "frames", "every_type", false, true)), List.of());
      equal(rows(metadata.getProcedures(null, null, "%")), List.of());
      equal(rows(metadata.getFunctions(null, null, "%")), List.of());
      rows(metadata.getTypeInfo());
    }
  }

  // Statements.

  @Case("a query gives rows, names and types")
  void query() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      ResultSet result = statement.executeQuery("SELECT range AS n, 'x' || range AS text FROM range(3)");
      ResultSetMetaData metadata = result.getMetaData();
      equal(metadata.getColumnLabel(1) + "," + metadata.getColumnLabel(2), "n,text");
      equal(metadata.getColumnType(1), Types.BIGINT);
      equal(metadata.getColumnType(2), Types.VARCHAR);
      equal(rows(result), List.of("0,x0", "1,x1", "2,x2"));
    }
  }

  @Case("a result tells the digits of its decimals and whole numbers, prepared or not")
  void digits() throws Exception {
    String sql = "SELECT 1.25::DECIMAL(10,2), 1::DECIMAL(38,0), sum(1), 1::BIGINT, 'x'";
    List<String> expected = List.of("10,2", "38,0", "38,0", "19,0", "0,0");
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        PreparedStatement prepared = connection.prepareStatement(sql)) {
      equal(digitsOf(statement.executeQuery(sql).getMetaData()), expected);
      equal(digitsOf(prepared.getMetaData()), expected);
      equal(digitsOf(prepared.executeQuery().getMetaData()), expected);
    }
  }

  private static List<String> digitsOf(ResultSetMetaData metadata) throws SQLException {
    List<String> digits = new ArrayList<>();
    for (int n = 1; n <= metadata.getColumnCount(); n++) digits.add(metadata.getPrecision(n) + "," + metadata.getScale(n));
    return digits;
  }

  @Case("execute tells a query from an update")
  void execute() throws Exception {
    String handle = fresh();
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      isTrue(statement.execute("SELECT 1"), "a query");
      equal(rows(statement.getResultSet()), List.of("1"));
      isTrue(!statement.execute("CREATE TABLE " + handle + " AS SELECT 1 AS n"), "an update");
      isTrue(!statement.execute("INSERT INTO " + handle + " VALUES (2), (3)"), "an update");
      equal(statement.getUpdateCount(), 2);
      equal(ask(connection, "SELECT n FROM " + handle), List.of("1", "2", "3"));
    }
  }

  @Case("executeUpdate creates, inserts and drops, each once, and counts rows")
  void executeUpdate() throws Exception {
    String handle = fresh();
    try (Connection connection = connect()) {
      tell(connection, "CREATE TABLE " + handle + " AS SELECT range AS n FROM range(5)");
      equal(tell(connection, "INSERT INTO " + handle + " SELECT n + 5 FROM " + handle), 5L);
      equal(ask(connection, "SELECT count(*), max(n) FROM " + handle), List.of("10,9"));
      tell(connection, "DROP TABLE " + handle);
      fails(() -> ask(connection, "SELECT * FROM " + handle), handle);
      tell(connection, "DROP TABLE IF EXISTS " + handle);
    }
  }

  @Case("rows are updated and deleted, and counted, prepared or not")
  void updates() throws Exception {
    String handle = fresh();
    try (Connection connection = connect()) {
      tell(connection, "CREATE TABLE " + handle + " AS SELECT range AS n, 'x' AS text FROM range(5)");
      equal(tell(connection, "UPDATE " + handle + " SET text = 'y' WHERE n > 2"), 2L);
      equal(tell(connection, "DELETE FROM " + handle + " WHERE n = 0"), 1L);
      try (PreparedStatement update = connection.prepareStatement("UPDATE " + handle + " SET text = ? WHERE n = ?");
          PreparedStatement delete = connection.prepareStatement("DELETE FROM " + handle + " WHERE n = ?")) {
        update.setString(1, "z");
        update.setLong(2, 1);
        equal(update.executeUpdate(), 1);
        delete.setLong(1, 4);
        equal(delete.executeUpdate(), 1);
      }
      equal(ask(connection, "SELECT n, text FROM " + handle + " ORDER BY n"), List.of("1,z", "2,x", "3,y"));
    }
  }

  @Case("a mistake is told with what was meant, and the connection stays usable")
  void mistake() throws Exception {
    try (Connection connection = connect()) {
      fails(() -> ask(connection, "SELECT boool FROM every_type"), "boool", "\"bool\"");
      fails(() -> ask(connection, "SELECT * FROM every_tpye"), "every_tpye", "\"every_type\"");
      equal(ask(connection, "SELECT 1"), List.of("1"));
    }
  }

  @Case("a result of many megabytes arrives whole and in order")
  void large() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      ResultSet result = statement.executeQuery("SELECT range AS n, 'row number ' || range AS text FROM range(500000)");
      long expected = 0;
      while (result.next()) {
        if (result.getLong(1) != expected) throw new AssertionError("row " + expected + " is " + result.getLong(1));
        expected++;
      }
      equal(expected, 500_000L);
    }
  }

  @Case("a value of more than 4 MiB arrives")
  void largeValue() throws Exception {
    try (Connection connection = connect()) {
      equal(ask(connection, "SELECT repeat('x', 6000000)").get(0).length(), 6_000_000);
    }
  }

  @Case("several results are read side by side")
  void interleaved() throws Exception {
    try (Connection connection = connect(); Statement one = connection.createStatement(); Statement two = connection.createStatement()) {
      ResultSet left = one.executeQuery("SELECT range FROM range(100000)");
      ResultSet right = two.executeQuery("SELECT -range FROM range(100000)");
      long rows = 0;
      while (left.next() && right.next()) {
        if (left.getLong(1) != -right.getLong(1)) throw new AssertionError("row " + rows);
        rows++;
      }
      equal(rows, 100_000L);
    }
  }

  @Case("results, statements and connections close half-read, and the engine is free again")
  void closesEarly() throws Exception {
    for (int turn = 0; turn < 4; turn++) {
      try (Connection connection = connect(); Statement statement = connection.createStatement()) {
        ResultSet result = statement.executeQuery("SELECT range FROM range(100000000)");
        isTrue(result.next(), "a row");
        result.close();
      }
    }
    try (Connection connection = connect()) {
      equal(ask(connection, "SELECT 42"), List.of("42"));
    }
  }

  @Case("a limit of rows is kept")
  void maxRows() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      statement.setMaxRows(3);
      equal(rows(statement.executeQuery("SELECT range FROM range(10)")), List.of("0", "1", "2"));
    }
  }

  // Prepared statements.

  @Case("a prepared query tells its columns and parameters")
  void preparedMetadata() throws Exception {
    try (Connection connection = connect();
        PreparedStatement statement = connection.prepareStatement("SELECT int64 FROM every_type WHERE int32 = ? AND utf8 = ?")) {
      equal(statement.getMetaData().getColumnLabel(1), "int64");
      equal(statement.getParameterMetaData().getParameterCount(), 2);
      equal(statement.getParameterMetaData().getParameterType(1), Types.INTEGER);
      equal(statement.getParameterMetaData().getParameterType(2), Types.VARCHAR);
    }
  }

  private interface Setter {
    void set(PreparedStatement statement) throws SQLException;
  }

  private static String roundTrip(Connection connection, String type, Setter setter) {
    try (PreparedStatement statement = connection.prepareStatement("SELECT CAST(? AS " + type + ") AS value")) {
      setter.set(statement);
      return rows(statement.executeQuery()).get(0);
    } catch (SQLException | RuntimeException thrown) {
      return thrown.toString();
    }
  }

  @Case("a parameter of every type is given back as it is")
  void parameters() throws Exception {
    Map<String, Setter> setters = new LinkedHashMap<>();
    setters.put("BOOLEAN true", statement -> statement.setBoolean(1, true));
    setters.put("TINYINT -7", statement -> statement.setByte(1, (byte) -7));
    setters.put("SMALLINT -300", statement -> statement.setShort(1, (short) -300));
    setters.put("INTEGER 70000", statement -> statement.setInt(1, 70_000));
    setters.put("BIGINT 9223372036854775807", statement -> statement.setLong(1, Long.MAX_VALUE));
    setters.put("BIGINT 5", statement -> statement.setObject(1, 5L));
    setters.put("FLOAT 1.5", statement -> statement.setFloat(1, 1.5f));
    setters.put("DOUBLE 0.1", statement -> statement.setDouble(1, 0.1));
    setters.put("DECIMAL(18,3) 12345.678", statement -> statement.setBigDecimal(1, new BigDecimal("12345.678")));
    setters.put("VARCHAR it's 🦆", statement -> statement.setString(1, "it's 🦆"));
    setters.put("DATE 2026-01-31", statement -> statement.setDate(1, Date.valueOf("2026-01-31")));
    setters.put("TIME 12:30:00", statement -> statement.setTime(1, Time.valueOf("12:30:00")));
    setters.put("TIMESTAMP 2026-01-31 12:00:00.5", statement -> statement.setTimestamp(1, Timestamp.valueOf("2026-01-31 12:00:00.5")));
    setters.put("TIMESTAMPTZ 2026-01-31 12:00:00.5", statement -> statement.setTimestamp(1, Timestamp.valueOf("2026-01-31 12:00:00.5")));
    setters.put("INTEGER null", statement -> statement.setNull(1, Types.INTEGER));
    setters.put("VARCHAR null", statement -> statement.setNull(1, Types.VARCHAR));
    List<String> wrong = new ArrayList<>();
    try (Connection connection = connect()) {
      for (Map.Entry<String, Setter> entry : setters.entrySet()) {
        String[] parts = entry.getKey().split(" ", 2);
        String actual = roundTrip(connection, parts[0], entry.getValue());
        if (!parts[1].equals(actual)) wrong.add(entry.getKey() + ", actual " + actual);
      }
    }
    equal(String.join("\n", wrong), "");
  }

  @Case("bytes as a parameter are given back as they are")
  void bytesParameter() throws Exception {
    try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement("SELECT CAST(? AS BLOB)")) {
      statement.setBytes(1, new byte[] {0, -1});
      ResultSet result = statement.executeQuery();
      isTrue(result.next(), "a row");
      equal(result.getBytes(1), new byte[] {0, -1});
    }
  }

  @Case("a parameter whose type nothing tells may be text")
  void untypedParameter() throws Exception {
    try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement("SELECT ? AS value")) {
      statement.setString(1, "x");
      equal(rows(statement.executeQuery()), List.of("x"));
    }
  }

  @Case("parameters beside one whose type nothing tells have theirs: a filter that may be left out")
  void optionalFilter() throws Exception {
    String sql = "SELECT range FROM range(5) WHERE (? IS NULL OR 'x' || range = ?) AND range / 2 > ? AND range < CAST(? AS BIGINT)";
    try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setNull(1, Types.VARCHAR);
      statement.setString(2, "");
      statement.setDouble(3, 0.9);
      statement.setLong(4, 4);
      equal(rows(statement.executeQuery()), List.of("2", "3"));
      statement.setString(1, "x3");
      statement.setString(2, "x3");
      equal(rows(statement.executeQuery()), List.of("3"));
    }
  }

  @Case("parameters that have names are set by their number, in the order of their first use")
  void namedParameters() throws Exception {
    String sql = "SELECT range FROM range(10) WHERE range >= $least AND range < $end AND range + 1 > $least";
    try (Connection connection = connect(); PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setLong(1, 4);
      statement.setLong(2, 6);
      equal(rows(statement.executeQuery()), List.of("4", "5"));
    }
  }

  @Case("a prepared query runs again with other parameters")
  void preparedAgain() throws Exception {
    try (Connection connection = connect();
        PreparedStatement statement = connection.prepareStatement("SELECT range FROM range(100) WHERE range = ?")) {
      for (int n = 0; n < 20; n++) {
        statement.setLong(1, n);
        equal(rows(statement.executeQuery()), List.of(String.valueOf(n)));
      }
    }
  }

  @Case("a prepared insert adds the rows of its parameters, one by one and as a batch")
  void preparedInsert() throws Exception {
    String handle = fresh();
    try (Connection connection = connect()) {
      tell(connection, "CREATE TABLE " + handle + " AS SELECT 0::BIGINT AS n, '' AS text WHERE false");
      try (PreparedStatement statement = connection.prepareStatement("INSERT INTO " + handle + " VALUES (?, ?)")) {
        statement.setLong(1, 1);
        statement.setString(2, "one");
        equal(statement.executeUpdate(), 1);
        for (int n = 2; n <= 5; n++) {
          statement.setLong(1, n);
          statement.setString(2, "batch " + n);
          statement.addBatch();
        }
        statement.executeBatch();
      }
      equal(ask(connection, "SELECT count(*), sum(n), max(text) FROM " + handle), List.of("5,15,one"));
    }
  }

  // Types.

  /** Column, first and last value. Of unsigned integers only those that the driver reads right: not 8 and 32 bits. */
  private static final String[] TEXTS = {
    "bool", "true", "false",
    "int8", "-128", "127",
    "int16", "-32768", "32767",
    "int32", "-2147483648", "2147483647",
    "int64", "-9223372036854775808", "9223372036854775807",
    "uint16", "0", "65535",
    "uint64", "0", "18446744073709551615",
    "float32", "1.5", "-Infinity",
    "float64", "0.1", "Infinity",
    "decimal64", "1.250", "-0.001",
    "decimal128", "9".repeat(38), "-" + "9".repeat(38),
    "utf8", "", "it's \"🦆\"\n",
    "utf8_view", "short", "longer than twelve bytes",
    "dictionary", "b", "a",
    "date32", "2026-01-31", "0001-01-01",
    "time_us", "00:00:00", "23:59:59.999",
    "timestamp_us", "2026-01-31 12:00:00.000005", "9999-12-31 00:00:00.0",
    "timestamp_ns", "2026-01-31 12:00:00.123456789", "1960-01-01 00:00:00.0",
    "timestamp_utc", "2026-01-31 12:00:00.0", "1969-12-31 00:00:00.0",
    "uuid", "00000000-0000-0000-0000-000000000000", "6a2f0b1e-6c1c-4b9e-9a53-0f1d2c3b4a59",
    "json", "{\"a\":[1,null]}", "\"text\"",
    "list", "[1,null,3]", "[]",
    "struct", "{\"a\":1,\"b\":\"x\"}", "{}",
  };

  @Case("what pyarrow put reads as the same text")
  void everyTypeAsText() throws Exception {
    List<String> wrong = new ArrayList<>();
    try (Connection connection = connect()) {
      for (int n = 0; n < TEXTS.length; n += 3) {
        List<String> actual = ask(connection, "SELECT \"" + TEXTS[n] + "\" FROM every_type");
        List<String> expected = List.of(TEXTS[n + 1], "null", TEXTS[n + 2]);
        if (!actual.equals(expected)) wrong.add(TEXTS[n] + ": expected " + expected + ", actual " + actual);
      }
    }
    equal(String.join("\n", wrong), "");
  }

  @Case("what pyarrow put reads as objects, every column of it")
  void everyTypeAsObject() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      ResultSet result = statement.executeQuery("SELECT * FROM every_type");
      int columns = result.getMetaData().getColumnCount();
      isTrue(columns > 40, columns);
      List<String> wrong = new ArrayList<>();
      for (int row = 0; result.next(); row++) {
        for (int n = 1; n <= columns; n++) {
          String name = result.getMetaData().getColumnLabel(n);
          // The driver has no objects of times with a zone, only text and getTimestamp.
          if (result.getMetaData().getColumnType(n) == Types.TIMESTAMP_WITH_TIMEZONE) continue;
          try {
            boolean isNull = result.getObject(n) == null;
            if (isNull != (row == 1)) wrong.add(name + " in row " + row + ": " + result.getObject(n));
          } catch (SQLException | RuntimeException thrown) {
            wrong.add(name + " in row " + row + ": " + thrown);
          }
        }
      }
      equal(String.join("\n", wrong), "");
    }
  }

  @Case("times and decimals read as their own classes")
  void classes() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      ResultSet result = statement.executeQuery(
          "SELECT TIMESTAMP '2026-01-31 12:00:00.123456', DATE '2026-01-31', TIME '12:30:00', 1.25::DECIMAL(10,2), 'ab'::BLOB");
      isTrue(result.next(), "a row");
      equal(result.getTimestamp(1), Timestamp.valueOf("2026-01-31 12:00:00.123456"));
      equal(result.getDate(2), Date.valueOf("2026-01-31"));
      equal(result.getTime(3), Time.valueOf("12:30:00"));
      equal(result.getBigDecimal(4), new BigDecimal("1.25"));
      equal(result.getBytes(5), "ab".getBytes(StandardCharsets.UTF_8));
    }
  }

  @Case("what the driver itself does wrong is as the guide tells it")
  void ownFaults() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      ResultSet result = statement.executeQuery(
          "SELECT 255::UTINYINT, 65535::USMALLINT, 4294967295::UINTEGER, 18446744073709551615::UBIGINT");
      isTrue(result.next(), "a row");
      for (int n = 1; n <= 4; n++) {
        equal(((Number) result.getObject(n)).longValue(), -1L);
        equal(result.getLong(n), n == 2 ? 65535L : -1L);
        isTrue(!result.getMetaData().isSigned(n), "told as unsigned");
      }
      equal(result.getString(1) + " " + result.getString(2), "18446744073709551615 65535");
      equal(result.getString(3) + " " + result.getString(4), "18446744073709551615 18446744073709551615");
      equal(
          ask(connection, "SELECT 255::UTINYINT::SMALLINT, 65535::USMALLINT::INTEGER, 4294967295::UINTEGER::BIGINT"), List.of("255,65535,4294967295"));
      ResultSet cast = statement.executeQuery("SELECT 18446744073709551615::UBIGINT::DECIMAL(20,0)");
      isTrue(cast.next(), "a row");
      equal(cast.getObject(1), new BigDecimal("18446744073709551615"));

      ResultSet empty = statement.executeQuery("SELECT 1 AS a, 'x' AS b WHERE false");
      isTrue(!empty.next(), "no row");
      equal(empty.getMetaData().getColumnCount(), 4);
      try (PreparedStatement prepared = connection.prepareStatement("SELECT 1 AS a, 'x' AS b WHERE false")) {
        ResultSet once = prepared.executeQuery();
        isTrue(!once.next(), "no row");
        equal(once.getMetaData().getColumnCount(), 2);
      }

      Timestamp fine = Timestamp.valueOf("2026-01-31 12:00:00.123456");
      equal(roundTrip(connection, "TIMESTAMP", prepared -> prepared.setTimestamp(1, fine)), "2026-01-31 12:00:00.123");
      try (PreparedStatement prepared = connection.prepareStatement("SELECT CAST(CAST(? AS VARCHAR) AS TIMESTAMP)")) {
        prepared.setString(1, fine.toString());
        equal(rows(prepared.executeQuery()), List.of("2026-01-31 12:00:00.123456"));
      }

      String handle = fresh();
      statement.addBatch("CREATE TABLE " + handle + " AS SELECT 1 AS n");
      fails(statement::executeBatch, "NullPointerException");
      fails(() -> ask(connection, "SELECT * FROM " + handle), handle);
      isTrue(!statement.executeQuery("SELECT 1::BIGINT").getMetaData().isSigned(1), "BIGINT told as unsigned");
    }
  }

  // Stopping.

  @Case("a query is cancelled from another thread")
  void cancel() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      Thread canceller = new Thread(() -> {
        try {
          // Again and again: on a busy machine the first may come before the query.
          while (true) {
            Thread.sleep(300);
            statement.cancel();
          }
        } catch (Exception ended) {
          // The query itself tells.
        }
      });
      canceller.start();
      long start = System.nanoTime();
      fails(() -> rows(statement.executeQuery(
          "SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range + b.range = 7")), "cancel");
      canceller.interrupt();
      canceller.join();
      isTrue(System.nanoTime() - start < 5_000_000_000L, "cancelled in time");
      equal(ask(connection, "SELECT 42"), List.of("42"));
    }
  }

  // TLS and tokens.

  private void writesAndReads(Connection connection) throws SQLException {
    String table = fresh();
    tell(connection, "CREATE TABLE " + table + " AS SELECT 41 AS n");
    tell(connection, "INSERT INTO " + table + " VALUES (1)");
    equal(ask(connection, "SELECT sum(n)::BIGINT FROM " + table), List.of("42"));
  }

  @Case("a user and a password, which is a token, write and read over TLS")
  void passwordOverTls() throws Exception {
    for (String user : List.of("anyone", "")) {
      try (Connection connection = connectSecurely("user", user, "password", secret("token"))) {
        writesAndReads(connection);
      }
    }
  }

  @Case("the property token takes a token, and a JWT, over TLS")
  void tokenOverTls() throws Exception {
    for (String name : List.of("token", "jwt")) {
      try (Connection connection = connectSecurely("token", secret(name))) {
        writesAndReads(connection);
      }
    }
  }

  @Case("a client certificate needs no token")
  void clientCertificate() throws Exception {
    try (Connection connection = connectSecurely(certificate("client"))) {
      writesAndReads(connection);
    }
  }

  @Case("a wrong or revoked credential fails the connect, with the reason")
  void wrongCredentials() throws Exception {
    String unknown = "UNAUTHENTICATED: the credential is neither a token of this server nor a JWT";
    String revoked = "UNAUTHENTICATED: the token is unknown or revoked";
    fails(() -> connectSecurely("user", "anyone", "password", "secret"), unknown);
    fails(() -> connectSecurely("token", "secret"), unknown);
    fails(() -> connectSecurely("user", "anyone", "password", secret("revoked-token")), revoked);
    fails(() -> connectSecurely("token", secret("revoked-token")), revoked);
  }

  @Case("without a credential that the server takes, the first statement fails")
  void noCredentials() throws Exception {
    try (Connection none = connectSecurely(); Connection stranger = connectSecurely(certificate("stranger"))) {
      fails(() -> ask(none, "SELECT 1"), "no credentials were sent");
      // The driver shows no certificate that the server would not take.
      fails(() -> ask(stranger, "SELECT 1"), "no credentials were sent");
    }
  }

  @Case("a token that may only read is told the missing role")
  void readersToken() throws Exception {
    try (Connection connection = connectSecurely("token", secret("read-token"))) {
      equal(ask(connection, "SELECT 42"), List.of("42"));
      fails(() -> tell(connection, "CREATE TABLE " + fresh() + " AS SELECT 1 AS n"), "needs the role write");
    }
  }

  @Case("an unknown authority fails the connect, with the reason")
  void unknownAuthority() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("token", secret("token"));
    String url = "jdbc:arrow-flight-sql://" + secureAddress;
    fails(() -> DriverManager.getConnection(url, properties), "UNAVAILABLE", "unable to find valid certification path");
    properties.setProperty("disableCertificateVerification", "true");
    try (Connection connection = DriverManager.getConnection(url, properties)) {
      equal(ask(connection, "SELECT 42"), List.of("42"));
    }
  }
}
