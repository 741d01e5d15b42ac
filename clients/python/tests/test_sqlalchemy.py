"""The dialect framehold:// of SQLAlchemy."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote, urlsplit
from uuid import UUID

import pandas
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import framehold

MOMENT = dt.datetime(1969, 7, 20, 20, 17, 40, 123456)


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(url.replace("http://", "framehold://"))
    yield engine
    engine.dispose()


def a_table(name: str, metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        name,
        metadata,
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(30), nullable=False, unique=True),
        sa.Column("born", sa.DateTime),
        sa.Column("seen", sa.DateTime(timezone=True)),
        sa.Column("day", sa.Date),
        sa.Column("price", sa.Float),
        sa.Column("balance", sa.Numeric(10, 2)),
        sa.Column("is_open", sa.Boolean, server_default=sa.true()),
        sa.Column("key", sa.Uuid),
        sa.Column("data", sa.LargeBinary),
        sa.Column("select", sa.Text),
    )


def test_tables_and_views_are_listed(engine: sa.Engine, server: framehold.Connection, fresh: Callable[[], str]) -> None:
    table, view = fresh(), fresh()
    server.put(table, {"n": [1]})
    server.sql(f"CREATE VIEW {view} AS SELECT n FROM {table}")
    found = sa.inspect(engine)
    assert table in found.get_table_names()
    assert table in found.get_table_names(schema="frames")
    assert view not in found.get_table_names()
    assert view in found.get_view_names()
    assert found.default_schema_name == "frames"
    assert found.get_schema_names() == ["frames"]
    assert found.has_table(table)
    assert found.has_table(view)
    assert not found.has_table(f"{table}_no")
    assert [column["name"] for column in found.get_columns(view)] == ["n"]
    with pytest.raises(sa.exc.NoSuchTableError):
        found.get_columns(f"{table}_no")
    with pytest.raises(sa.exc.NoSuchTableError):
        found.get_pk_constraint(f"{table}_no")


def test_lists_of_lists_are_arrays_of_several_dimensions(engine: sa.Engine, name: str) -> None:
    with engine.begin() as connection:
        text = (
            f'CREATE TABLE "{name}" AS SELECT [1] AS one, [[1, 2], [3]] AS two, [[[\'x\']]] AS three, '
            "[{'n': [[1]]}] AS structs, MAP {1: [[2]]} AS map, array_value(1, 2) AS pair"
        )
        connection.exec_driver_sql(text)
    table = sa.Table(name, sa.MetaData(), autoload_with=engine)
    dimensions = {c.name: c.type.dimensions for c in table.columns if isinstance(c.type, sa.ARRAY)}
    assert {name: dimensions.get(name) for name in ("one", "two", "three", "structs")} == {
        "one": 1,
        "two": 2,
        "three": 3,
        "structs": 1,
    }
    assert isinstance(table.c.three.type.item_type, sa.String)
    with engine.connect() as connection:
        assert connection.execute(sa.select(table.c.one, table.c.two)).all() == [([1], [[1, 2], [3]])]


def test_all_tables_are_reflected_with_a_few_statements(
    engine: sa.Engine, server: framehold.Connection, fresh: Callable[[], str]
) -> None:
    metadata = sa.MetaData()
    other = sa.Table(fresh(), metadata, sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False))
    made = [a_table(fresh(), metadata), other]
    keyed = sa.Table(
        fresh(),
        metadata,
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("other", sa.BigInteger, sa.ForeignKey(other.c.id)),
        sa.UniqueConstraint("n", "other"),
    )
    metadata.create_all(engine)
    view = fresh()
    server.sql(f"CREATE VIEW {view} AS SELECT n FROM {keyed.name}")
    statements: list[str] = []
    sa.event.listen(engine, "before_cursor_execute", lambda *event: statements.append(event[2]))
    found = sa.MetaData()
    found.reflect(engine, views=True)
    assert len(statements) < 20
    for table in (*made, keyed):
        one = sa.Table(table.name, sa.MetaData(), autoload_with=engine, resolve_fks=False)
        both = found.tables[table.name]
        assert [(c.name, repr(c.type), c.nullable) for c in both.columns] == [
            (c.name, repr(c.type), c.nullable) for c in one.columns
        ]
        assert [c.name for c in both.primary_key] == [c.name for c in one.primary_key]
    uniques = [each for each in found.tables[keyed.name].constraints if isinstance(each, sa.UniqueConstraint)]
    assert [[column.name for column in unique.columns] for unique in uniques] == [["n", "other"]]
    assert {key.target_fullname for key in found.tables[keyed.name].foreign_keys} == {f"{other.name}.id"}
    assert [column.name for column in found.tables[view].columns] == ["n"]
    metadata.drop_all(engine)


def test_an_upsert_changes_rows_whose_key_is_there(engine: sa.Engine, name: str) -> None:
    metadata = sa.MetaData()
    key = sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False)
    table = sa.Table(name, metadata, key, sa.Column("n", sa.Integer), sa.Column("select", sa.Text))
    metadata.create_all(engine)
    insert = postgresql.insert(table)
    excluded = insert.excluded
    upsert = insert.on_conflict_do_update(
        index_elements=["id"],
        set_={"n": table.c.n + excluded.n, "select": excluded["select"]},
        where=excluded.n > 0,
    )
    with engine.begin() as connection:
        connection.execute(insert, [{"id": n, "n": 10, "select": "old"} for n in range(2)])
        connection.execute(upsert, [{"id": n, "n": n, "select": "new"} for n in range(3)])
        kept = postgresql.insert(table).values(id=1, n=0).on_conflict_do_nothing()
        connection.execute(kept)
        returned = upsert.values(id=2, n=5, select="again").returning(table.c.n)
        assert connection.execute(returned).scalar_one() == 7
        rows = connection.execute(sa.select(table).order_by(key)).all()
    metadata.drop_all(engine)
    assert rows == [(0, 10, "old"), (1, 11, "new"), (2, 7, "again")]


def test_a_table_is_made_reflected_and_dropped(engine: sa.Engine, name: str) -> None:
    metadata = sa.MetaData()
    made = a_table(name, metadata)
    metadata.create_all(engine)
    metadata.create_all(engine)
    reflected = sa.Table(name, sa.MetaData(), autoload_with=engine)
    assert reflected.columns.keys() == made.columns.keys()
    assert reflected.primary_key.columns.keys() == ["id"]
    assert {column.name for column in reflected.columns if not column.nullable} == {"id", "name"}
    unique = [c for c in reflected.constraints if isinstance(c, sa.UniqueConstraint)]
    assert [list(constraint.columns.keys()) for constraint in unique] == [["name"]]
    for column in made.columns:
        assert reflected.columns[column.name].type.python_type is column.type.python_type
    numeric = reflected.columns["balance"].type
    assert isinstance(numeric, sa.Numeric)
    assert (numeric.precision, numeric.scale) == (10, 2)
    assert reflected.columns["seen"].type.timezone is True  # type: ignore[attr-defined]
    metadata.drop_all(engine)
    assert not sa.inspect(engine).has_table(name)


def test_foreign_keys_are_reflected(engine: sa.Engine, server: framehold.Connection, fresh: Callable[[], str]) -> None:
    parent, child = fresh(), fresh()
    server.sql(f"CREATE TABLE {parent} (id INT PRIMARY KEY)")
    server.sql(f"CREATE TABLE {child} (n INT, parent_id INT REFERENCES {parent} (id))")
    table = sa.Table(child, sa.MetaData(), autoload_with=engine)
    assert [key.target_fullname for key in table.c.parent_id.foreign_keys] == [f"{parent}.id"]
    assert table.c.n.foreign_keys == set()


def test_values_of_every_type_come_back(engine: sa.Engine, name: str) -> None:
    metadata = sa.MetaData()
    table = a_table(name, metadata)
    metadata.create_all(engine)
    seen = dt.datetime(2026, 1, 31, 12, tzinfo=dt.timezone.utc)
    row = (
        1,
        "it's 😀",
        MOMENT,
        seen,
        dt.date(2026, 1, 31),
        0.1,
        Decimal("1.25"),
        False,
        UUID(int=7),
        b"\0\xff",
        "from",
    )
    with engine.begin() as connection:
        connection.execute(table.insert(), [dict(zip(table.columns.keys(), row))])
        connection.execute(table.insert(), [{"id": 2, "name": "two"}])
    with engine.connect() as connection:
        found = connection.execute(table.select().order_by(table.c.id)).all()
        assert tuple(found[0]) == row
        assert tuple(found[1])[:7] == (2, "two", None, None, None, None, None)
        assert connection.scalar(sa.select(table.c.id).where(table.c.key == UUID(int=7))) == 1
        assert connection.scalar(sa.select(table.c.select).where(table.c.born == MOMENT)) == "from"


def test_the_orm_inserts_queries_updates_and_deletes(engine: sa.Engine, name: str) -> None:
    table = name

    class Base(DeclarativeBase):
        pass

    class Person(Base):
        __tablename__ = table
        id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
        name: Mapped[str]
        born: Mapped[dt.datetime | None]

    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all([Person(id=n, name=f"name {n}", born=MOMENT if n % 2 else None) for n in range(5)])
        session.commit()
        one = session.get(Person, 1)
        assert one is not None
        one.name = "changed"
        session.delete(session.get(Person, 2))
        session.commit()
        session.execute(sa.update(Person).where(Person.id > 3).values(name="many"))
        session.commit()
        names = session.scalars(sa.select(Person.name).order_by(Person.id).offset(1).limit(10)).all()
        assert names == ["changed", "name 3", "many"]
        assert session.scalar(sa.select(sa.func.count()).where(Person.born.is_not(None))) == 2


def test_a_script_of_text_gets_named_parameters(engine: sa.Engine) -> None:
    """As %sql of notebooks sends it."""
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text("SELECT range AS n FROM range(5) WHERE range > :least ORDER BY n"), {"least": 2}
        )
        assert rows.keys()._keys == ["n"]
        assert [tuple(row) for row in rows] == [(3,), (4,)]
        with pytest.raises(sa.exc.DBAPIError, match="did you mean"):
            connection.execute(sa.text("SELECT rnge FROM (SELECT 1 AS range)"))


def test_the_calls_of_superset_work(engine: sa.Engine, server: framehold.Connection, name: str) -> None:
    server.put(name, {"at": [MOMENT, MOMENT], "price": [1.0, 2.0]})
    with engine.connect() as connection:
        assert engine.dialect.do_ping(connection.connection.dbapi_connection)  # type: ignore[arg-type]
    found = sa.inspect(engine)
    columns = {column["name"]: str(column["type"]) for column in found.get_columns(name, "frames")}
    assert columns == {"at": "DATETIME", "price": "DOUBLE"}
    assert found.get_indexes(name, "frames") == []
    assert found.get_foreign_keys(name, "frames") == []
    table = sa.table(name, sa.column("at"), sa.column("price"), schema="frames")
    query = sa.select(table.c.at.label("__timestamp"), sa.func.sum(table.c.price).label("SUM(price)")).group_by(
        table.c.at
    )
    compiled = query.limit(10).compile(engine, compile_kwargs={"literal_binds": True})
    frame = pandas.read_sql_query(sa.text(str(compiled)), engine)
    assert frame.to_dict("records") == [{"__timestamp": MOMENT, "SUM(price)": 3.0}]
    assert pandas.read_sql_table(name, engine, columns=["price"])["price"].tolist() == [1.0, 2.0]


def test_tls_and_tokens_are_given_in_the_address(secure_url: str, secure_folder: Path) -> None:
    address = urlsplit(secure_url).netloc
    token = quote((secure_folder / "token").read_text().strip(), safe="")
    certificate = f"cert={secure_folder}/client.crt&key={secure_folder}/client.key"
    trusted = f"tls=true&ca={secure_folder}/ca.crt"
    for url in (
        f"framehold://any:{token}@{address}/?{trusted}",
        f"framehold+adbc://{address}/?{trusted}&{certificate}",
    ):
        engine = sa.create_engine(url)
        assert token not in repr(engine)
        with engine.connect() as connection:
            assert connection.scalar(sa.text("SELECT 42")) == 42
        engine.dispose()
    with pytest.raises(framehold.errors.UnreachableError):
        sa.create_engine(f"framehold://{address}/?tls=true").connect()


def test_wrong_options_are_told(url: str) -> None:
    netloc = urlsplit(url).netloc
    with pytest.raises(ValueError, match="'tsl' is no option"):
        sa.create_engine(f"framehold://{netloc}/?tsl=true").connect()
    with pytest.raises(ValueError, match="tls is 'yes'"):
        sa.create_engine(f"framehold://{netloc}/?tls=yes").connect()
