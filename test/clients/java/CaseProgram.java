import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Runs the cases of a program by name: names come in a line each, answers go out as JSON lines. */
public abstract class CaseProgram {
  private static final long LONGEST_CASE_MS = 20_000;

  @Retention(RetentionPolicy.RUNTIME)
  public @interface Case {
    String value();
  }

  protected interface Action {
    void run() throws Exception;
  }

  /** Never returns before the last line was read, and then ends the program. */
  protected void answerNames() throws Exception {
    // Whatever a library prints must not get between the answers.
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Map<String, Method> cases = new TreeMap<>();
    for (Method method : getClass().getDeclaredMethods()) {
      Case annotation = method.getAnnotation(Case.class);
      if (annotation == null) continue;
      method.setAccessible(true);
      cases.put(annotation.value(), method);
    }
    answers.println("{\"cases\":[" + String.join(",", cases.keySet().stream().map(CaseProgram::json).toList()) + "]}");
    BufferedReader names = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String name = names.readLine(); name != null; name = names.readLine()) {
      Thread watch = endAfter(LONGEST_CASE_MS, Thread.currentThread());
      String error = null;
      try {
        cases.get(name).invoke(this);
      } catch (InvocationTargetException thrown) {
        error = trace(thrown.getCause());
      }
      watch.interrupt();
      String tail = error == null ? "true}" : "false,\"error\":" + json(error) + "}";
      answers.println("{\"name\":" + json(name) + ",\"ok\":" + tail);
    }
    System.exit(0);
  }

  private static Thread endAfter(long ms, Thread watched) {
    Thread watch = new Thread(() -> {
      try {
        Thread.sleep(ms);
        for (StackTraceElement element : watched.getStackTrace()) System.err.println("\tat " + element);
        Runtime.getRuntime().halt(3);
      } catch (InterruptedException done) {
        // The case has ended.
      }
    });
    watch.setDaemon(true);
    watch.start();
    return watch;
  }

  private static String trace(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString().lines().limit(30).reduce("", (all, line) -> all + line + "\n");
  }

  private static String json(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') out.append('\\').append(c);
      else if (c < 0x20) out.append(String.format("\\u%04x", (int) c));
      else out.append(c);
    }
    return out.append('"').toString();
  }

  // What cases are made of.

  protected static void equal(Object actual, Object expected) {
    if (!Objects.deepEquals(actual, expected)) {
      throw new AssertionError("expected " + show(expected) + ", actual " + show(actual));
    }
  }

  protected static void isTrue(boolean condition, Object what) {
    if (!condition) throw new AssertionError(String.valueOf(what));
  }

  private static String show(Object value) {
    return value instanceof byte[] bytes ? Arrays.toString(bytes) : value + (value == null ? "" : " (" + value.getClass().getSimpleName() + ")");
  }

  protected static void fails(Action action, String... parts) throws Exception {
    try {
      action.run();
    } catch (SQLException | RuntimeException thrown) {
      String text = "";
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) text += cause + "\n";
      for (String part : parts) isTrue(text.toLowerCase().contains(part.toLowerCase()), "no \"" + part + "\" in " + text);
      return;
    }
    throw new AssertionError("nothing failed, where something should have said " + Arrays.toString(parts));
  }

  /** The rows of a result as text, a row joined by commas. */
  protected static List<String> rows(ResultSet result, String... columns) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (result) {
      while (result.next()) {
        List<String> cells = new ArrayList<>();
        if (columns.length == 0) {
          for (int n = 1; n <= result.getMetaData().getColumnCount(); n++) cells.add(result.getString(n));
        }
        for (String column : columns) cells.add(result.getString(column));
        rows.add(String.join(",", cells.stream().map(String::valueOf).toList()));
      }
    }
    return rows;
  }

  protected static List<String> ask(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return rows(statement.executeQuery(sql));
    }
  }

  protected static long tell(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }
}
