"""The dialect ``framehold://`` of SQLAlchemy, over ADBC's driver for Flight SQL.

``framehold://localhost:9000`` is the address of HTTP, as for ``framehold.connect``; where Flight SQL listens, the server
tells. Options: ``?tls=true``, ``ca``, ``cert`` and ``key`` (files), ``tenant``, ``engine``. A password is the token.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import sqlalchemy as sa
from sqlalchemy import types
from sqlalchemy.dialects.postgresql.base import PGCompiler
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.sql.compiler import DDLCompiler, GenericTypeCompiler, IdentifierPreparer, SQLCompiler

from ._connection import connect
from ._transport.address import Credentials

CATALOG = "framehold"
SCHEMA = "frames"
_driver = "adbc.flight.sql."
_options = {"tls", "ca", "cert", "key", "tenant", "engine"}

_types: dict[str, type[types.TypeEngine[Any]]] = {
    "BOOLEAN": types.Boolean,
    "TINYINT": types.SmallInteger,
    "UTINYINT": types.SmallInteger,
    "SMALLINT": types.SmallInteger,
    "USMALLINT": types.Integer,
    "INTEGER": types.Integer,
    "UINTEGER": types.BigInteger,
    "BIGINT": types.BigInteger,
    "FLOAT": types.REAL,
    "DOUBLE": types.Double,
    "VARCHAR": types.String,
    "BLOB": types.LargeBinary,
    "DATE": types.Date,
    "TIME": types.Time,
    "TIMESTAMP": types.DateTime,
    "TIMESTAMP_S": types.DateTime,
    "TIMESTAMP_MS": types.DateTime,
    "TIMESTAMP_NS": types.DateTime,
    "INTERVAL": types.Interval,
    "UUID": types.Uuid,
    "JSON": types.JSON,
}


class _Preparer(IdentifierPreparer):
    """Every name in quotes: the reserved words of SQL are many, and names mean the same in any case."""

    def _requires_quotes(self, value: str) -> bool:
        return True


class _TypeCompiler(GenericTypeCompiler):
    """DDL in the words of DuckDB. Its FLOAT has 32 bits, and Python's 64."""

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_DOUBLE(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return self.visit_TIMESTAMP(type_, **kw)

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP WITH TIME ZONE" if type_.timezone else "TIMESTAMP"

    def visit_uuid(self, type_: Any, **kw: Any) -> str:
        return "UUID"

    def visit_UUID(self, type_: Any, **kw: Any) -> str:
        return "UUID"

    def visit_JSON(self, type_: Any, **kw: Any) -> str:
        return "JSON"

    def visit_interval(self, type_: Any, **kw: Any) -> str:
        return "INTERVAL"


class _Compiler(SQLCompiler):
    """Takes the upserts of ``sqlalchemy.dialects.postgresql.insert``, whose words are DuckDB's, too."""

    _on_conflict_target = PGCompiler._on_conflict_target
    visit_on_conflict_do_nothing = PGCompiler.visit_on_conflict_do_nothing
    visit_on_conflict_do_update = PGCompiler.visit_on_conflict_do_update


class _Binary(types.LargeBinary):
    """The driver takes bytes as they are, and has no ``Binary``."""

    def bind_processor(self, dialect: Any) -> None:
        return None


class FrameholdDialect(DefaultDialect):
    name = "framehold"
    driver = "adbc"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    supports_default_values = True
    supports_comments = False
    supports_schemas = True
    default_schema_name = SCHEMA
    colspecs = {types.LargeBinary: _Binary}
    preparer = _Preparer
    type_compiler_cls = _TypeCompiler
    statement_compiler = _Compiler
    ddl_compiler = DDLCompiler

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        try:
            import adbc_driver_flightsql.dbapi as driver
        except ImportError as error:
            raise ImportError("framehold:// needs the driver: pip install 'framehold[sqlalchemy]'") from error
        module: ModuleType = driver
        return module

    # Connections

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        query = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
        unknown = sorted(set(query) - _options)
        if unknown:
            raise ValueError(
                f"{unknown[0]!r} is no option of framehold://; the options are {', '.join(sorted(_options))}"
            )
        tls = query.pop("tls", "false").lower()
        if tls not in ("true", "false"):
            raise ValueError(f"tls is {tls!r}; it is true or false")
        address = None
        if url.host:
            host = f"[{url.host}]" if ":" in url.host else url.host
            address = f"{'https' if tls == 'true' else 'http'}://{host}:{url.port or 9000}"
        token = None if url.password is None else str(url.password)
        return [], {"address": address, "token": token, **query}

    def connect(self, *arguments: Any, **parameters: Any) -> Any:
        """Asks the server where Flight SQL listens. ``connect_args`` may give what ``framehold.connect`` takes."""
        engine = parameters.pop("engine", None)
        with connect(parameters.pop("address", None), **parameters) as server:
            uri, options = _flight_sql(
                server.server().grpc, server.address.host, server.address.is_tls, server._http.credentials
            )
        if engine is not None:
            options[f"{_driver}rpc.call_header.x-framehold-engine"] = engine
        return self.loaded_dbapi.connect(uri, db_kwargs=options)

    def _get_default_schema_name(self, connection: sa.Connection) -> str:
        return SCHEMA

    # Reflection, from the catalogs of the server

    def get_schema_names(self, connection: sa.Connection, **kw: Any) -> list[str]:
        """Ours, and those of tenants that share frames."""
        rows = _ask(connection, "SELECT schema_name FROM information_schema.schemata WHERE catalog_name = ?", CATALOG)
        return sorted(row[0] for row in rows if row[0] != "main")

    def get_table_names(self, connection: sa.Connection, schema: str | None = None, **kw: Any) -> list[str]:
        return _names(connection, schema, "BASE TABLE")

    def get_view_names(self, connection: sa.Connection, schema: str | None = None, **kw: Any) -> list[str]:
        return _names(connection, schema, "VIEW")

    def has_table(self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        text = (
            "SELECT 1 FROM information_schema.tables "
            "WHERE table_catalog = ? AND table_schema = ? AND lower(table_name) = lower(?)"
        )
        return bool(_ask(connection, text, CATALOG, schema or SCHEMA, table_name))

    def get_columns(self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        for _, columns in self.get_multi_columns(connection, schema=schema, filter_names=[table_name]):
            return columns
        raise NoSuchTableError(table_name)

    def get_multi_columns(self, connection: sa.Connection, **kw: Any) -> Any:
        """Of all tables in one statement: one for each would take seconds where there are hundreds."""
        names = "column_name, data_type, is_nullable, column_default"
        where = "FROM information_schema.columns WHERE table_catalog = ? AND table_schema = ?"
        found: dict[Any, list[Any]] = {}
        for key, name, kind, nullable, default in _of_tables(connection, names, where, "ORDER BY ordinal_position", **kw):
            column = {
                "name": name,
                "type": sql_type(kind),
                "nullable": nullable == "YES",
                "default": default,
                "autoincrement": False,
            }
            found.setdefault(key, []).append(column)
        return found.items()

    def get_pk_constraint(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        found = self._constraints_of(connection, table_name, schema, "PRIMARY KEY")
        return _primary_key(found[0]) if found else {"constrained_columns": [], "name": None}

    def get_multi_pk_constraint(self, connection: sa.Connection, **kw: Any) -> Any:
        return {key: _primary_key(row) for key, row in self._constraints(connection, "PRIMARY KEY", **kw)}.items()

    def get_unique_constraints(
        self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        return [_unique(row) for row in self._constraints_of(connection, table_name, schema, "UNIQUE")]

    def get_multi_unique_constraints(self, connection: sa.Connection, **kw: Any) -> Any:
        return _listed((key, _unique(row)) for key, row in self._constraints(connection, "UNIQUE", **kw))

    def get_foreign_keys(self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """Those whose other table is there."""
        found = self._constraints_of(connection, table_name, schema, "FOREIGN KEY")
        return [_foreign_key(row, schema) for row in found]

    def get_multi_foreign_keys(self, connection: sa.Connection, *, schema: str | None = None, **kw: Any) -> Any:
        found = self._constraints(connection, "FOREIGN KEY", schema=schema, **kw)
        return _listed((key, _foreign_key(row, schema)) for key, row in found)

    def get_indexes(self, connection: sa.Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """There are none."""
        return []

    def get_multi_indexes(self, connection: sa.Connection, **kw: Any) -> Any:
        return ()

    def _constraints_of(
        self, connection: sa.Connection, table_name: str, schema: str | None, constraint: str
    ) -> list[Any]:
        if not self.has_table(connection, table_name, schema):
            raise NoSuchTableError(table_name)
        return [row for _, row in self._constraints(connection, constraint, schema=schema, filter_names=[table_name])]

    def _constraints(self, connection: sa.Connection, constraint: str, **kw: Any) -> Iterator[tuple[Any, Any]]:
        names = "constraint_name, constraint_column_names, referenced_table, referenced_column_names"
        where = f"FROM duckdb_constraints() WHERE constraint_type = '{constraint}' AND database_name = ? AND schema_name = ?"
        for key, *row in _of_tables(connection, names, where, **kw):
            yield key, row


def _primary_key(row: Any) -> dict[str, Any]:
    return {"constrained_columns": row[1], "name": row[0]}


def _unique(row: Any) -> dict[str, Any]:
    return {"name": row[0], "column_names": row[1]}


def _foreign_key(row: Any, schema: str | None) -> dict[str, Any]:
    name, columns, other, other_columns = row
    return {
        "name": name,
        "constrained_columns": columns,
        "referred_schema": schema,
        "referred_table": other,
        "referred_columns": other_columns,
    }


def _listed(pairs: Iterable[tuple[Any, Any]]) -> Any:
    found: dict[Any, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found.items()


def _of_tables(
    connection: sa.Connection,
    names: str,
    where: str,
    order: str = "",
    *,
    schema: str | None = None,
    filter_names: Collection[str] | None = None,
    **kw: Any,
) -> Iterator[Any]:
    """Rows of a catalog, each behind the schema and the name of its table as the caller writes them."""
    asked = {name.lower(): name for name in filter_names or ()}
    places = ", ".join("?" * len(asked))
    chosen = f"AND lower(table_name) IN ({places})" if filter_names is not None else ""
    text = f"SELECT table_name, {names} {where} {chosen} {order}"
    for table, *row in _ask(connection, text, CATALOG, schema or SCHEMA, *asked):
        yield (schema, asked.get(table.lower(), table)), *row


def sql_type(text: str) -> types.TypeEngine[Any]:
    """That of SQLAlchemy for one of the catalogs."""
    array = re.fullmatch(r"(.+?)((?:\[\d*\])+)", text, re.DOTALL)
    if array is not None:
        return types.ARRAY(sql_type(array[1]), dimensions=array[2].count("["))
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", text)
    if decimal is not None:
        return types.Numeric(int(decimal[1]), int(decimal[2]))
    if text in ("UBIGINT", "HUGEINT", "UHUGEINT"):
        return types.Numeric(38, 0)
    if text == "TIMESTAMP WITH TIME ZONE":
        return types.DateTime(timezone=True)
    if text.startswith("ENUM("):
        return types.String()
    return _types.get(text, types.NullType)()


def _names(connection: sa.Connection, schema: str | None, kind: str) -> list[str]:
    text = (
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_catalog = ? AND table_schema = ? AND table_type = ? ORDER BY table_name"
    )
    return [row[0] for row in _ask(connection, text, CATALOG, schema or SCHEMA, kind)]


def _ask(connection: sa.Connection, text: str, *values: Any) -> list[Any]:
    return list(connection.exec_driver_sql(text, values).fetchall())


def _flight_sql(grpc: str, host: str, is_tls: bool, shown: Credentials) -> tuple[str, dict[str, str]]:
    """The address for ADBC's driver, and its options."""
    options = {}
    if shown.token is not None:
        options[f"{_driver}authorization_header"] = f"Bearer {shown.token}"
    if shown.tenant is not None:
        options[f"{_driver}rpc.call_header.x-framehold-tenant"] = shown.tenant
    if not is_tls:
        return f"grpc://{grpc}", options
    files = {"tls_root_certs": shown.ca, "mtls_cert_chain": shown.cert, "mtls_private_key": shown.key}
    for name, path in files.items():
        if path is not None:
            options[f"{_driver}client_option.{name}"] = Path(path).read_text(encoding="ascii")
    # Its certificate is for the host that people name, and not for the address at which it listens.
    options[f"{_driver}client_option.tls_override_hostname"] = host
    return f"grpc+tls://{grpc}", options
