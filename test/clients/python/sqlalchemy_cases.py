"""SQLAlchemy over ADBC: sqlalchemy-adbc, whose dialect is for any Flight SQL server."""

import contextlib
from datetime import datetime
from decimal import Decimal

import sqlalchemy as sa
from framehold_cases import case, equal, fails
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


@contextlib.contextmanager
def engine_of(server):
    """The database of the address is told to nobody: some programs want one."""
    engine = sa.create_engine(f"adbc+flightsql://{server.grpc}/framehold?tls=false")
    try:
        yield engine
    finally:
        engine.dispose()


def model(table):
    """A class of the ORM for a table of this name."""

    class Base(DeclarativeBase):
        pass

    class Person(Base):
        __tablename__ = table
        id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
        name: Mapped[str] = mapped_column(sa.String(30))
        born: Mapped[datetime | None]
        balance: Mapped[Decimal | None] = mapped_column(sa.Numeric(10, 2))

    return Base.metadata, Person


@case("statements take parameters by name and give rows")
def _(server):
    with engine_of(server) as engine, engine.connect() as connection:
        query = sa.text("SELECT range AS id, 'x' || range AS name FROM range(5) WHERE range > :least ORDER BY id")
        rows = connection.execute(query, {"least": 2}).all()
    equal([row._asdict() for row in rows], [{"id": 3, "name": "x3"}, {"id": 4, "name": "x4"}])


@case("create_all makes tables with keys and NOT NULL, once, and drop_all drops them")
def _(server):
    metadata, person = model(server.fresh("person"))
    with engine_of(server) as engine:
        metadata.create_all(engine)
        metadata.create_all(engine)
        equal(sa.inspect(engine).has_table(person.__tablename__), True)
        with fails("takes no NULL"), engine.begin() as connection:
            connection.execute(sa.text(f"INSERT INTO {person.__tablename__} (id) VALUES (1)"))
        metadata.drop_all(engine)
        equal(sa.inspect(engine).has_table(person.__tablename__), False)


@case("a session of the ORM inserts and queries objects")
def _(server):
    metadata, person = model(server.fresh("person"))
    with engine_of(server) as engine:
        metadata.create_all(engine)
        with Session(engine) as session:
            born = datetime(1969, 7, 20, 20, 17, 40)
            session.add_all([
                person(id=1, name="one", born=born, balance=Decimal("1.25")),
                person(id=2, name="two"),
            ])
            session.commit()
        with Session(engine) as session:
            one = session.get(person, 1)
            equal((one.name, one.born, one.balance), ("one", born, Decimal("1.25")))
            names = sa.select(person.name).where(person.id.in_([1, 2, 3])).order_by(person.id.desc()).limit(1)
            equal(session.scalars(names).all(), ["two"])
            equal(session.scalar(sa.select(sa.func.count()).select_from(person)), 2)


@case("a session of the ORM updates and deletes objects, one by one and by a query")
def _(server):
    metadata, person = model(server.fresh("person"))
    with engine_of(server) as engine:
        metadata.create_all(engine)
        with Session(engine) as session:
            session.add_all([person(id=n, name=f"name {n}") for n in range(5)])
            session.commit()
            one = session.get(person, 1)
            one.name, one.balance = "changed", Decimal("2.50")
            session.delete(session.get(person, 2))
            session.commit()
            session.execute(sa.update(person).where(person.id > 3).values(balance=person.id * 2))
            session.execute(sa.delete(person).where(person.name.like("%3")))
            session.commit()
        with engine.connect() as connection:
            rows = connection.execute(sa.select(person.id, person.name, person.balance).order_by(person.id)).all()
        equal(rows, [(0, "name 0", None), (1, "changed", Decimal("2.50")), (4, "name 4", Decimal("8.00"))])


@case("tables are reflected by their names with types; ADBC tells neither NOT NULL nor keys, so a key is declared beside them")
def _(server):
    metadata, person = model(server.fresh("person"))
    with engine_of(server) as engine:
        metadata.create_all(engine)
        key = sa.Column("id", sa.Integer, primary_key=True)
        table = sa.Table(person.__tablename__, sa.MetaData(), key, autoload_with=engine)
        equal(
            [(column.name, type(column.type), column.nullable) for column in table.columns],
            [
                ("id", sa.Integer, False),
                ("name", sa.String, True),
                ("born", sa.DateTime, True),
                ("balance", sa.Numeric, True),
            ],
        )
        with engine.begin() as connection:
            connection.execute(sa.insert(table), [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}])
            equal(connection.execute(sa.select(table.c.name).order_by(table.c.id)).scalars().all(), ["one", "two"])


@case("what Superset's SQL Lab asks has an answer: schemas, columns, and a query with a limit and its columns")
def _(server):
    table = server.fresh("lab")
    with engine_of(server) as engine:
        with engine.begin() as connection:
            connection.execute(sa.text(f"CREATE TABLE {table} AS SELECT range AS id, 1.5::DECIMAL(10,2) AS price FROM range(9)"))
            connection.execute(sa.text(f"CREATE VIEW {table}_view AS SELECT id FROM {table}"))
        inspector = sa.inspect(engine)
        assert "frames" in inspector.get_schema_names()
        equal([column["name"] for column in inspector.get_columns(table, schema="frames")], ["id", "price"])
        equal([column["name"] for column in inspector.get_columns(f"{table}_view", schema="frames")], ["id"])
        equal(inspector.get_indexes(table, schema="frames"), [])
        # The dialect looks for tables of the type "table", and Flight SQL servers have "TABLE".
        equal((inspector.get_table_names(schema="frames"), inspector.get_view_names(schema="frames")), ([], []))
        with contextlib.closing(engine.raw_connection()) as connection, contextlib.closing(connection.cursor()) as cursor:
            cursor.execute(f"SELECT * FROM frames.{table}\nLIMIT 3")
            equal([column[0] for column in cursor.description], ["id", "price"])
            equal(cursor.fetchmany(2), [(0, Decimal("1.50")), (1, Decimal("1.50"))])


@case("an error is a ProgrammingError with what to do")
def _(server):
    with engine_of(server) as engine, engine.connect() as connection:
        with fails('table "nothing_here" not found', error=sa.exc.ProgrammingError):
            connection.execute(sa.text("SELECT * FROM nothing_here"))
