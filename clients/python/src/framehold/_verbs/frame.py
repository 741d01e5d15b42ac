"""Verbs on frames: a query without SQL, which runs when its rows are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from .._rows.result import Result
from .arguments import Mode
from .expressions import SOURCE, Expr, Rendered, as_expr
from .names import quote_name, quote_table
from .operations import Operations
from .types import Kept
from ..errors import SqlError

Columns = str | Expr | Iterable[str | Expr]
How = Literal["inner", "left", "semi", "anti"]


class Statement(NamedTuple):
    """SQL and its values: ``server.sql(*statement)`` runs it."""

    text: str
    params: list[Any]

    def __str__(self) -> str:
        return self.text if not self.params else f"{self.text}\n-- with {', '.join(map(repr, self.params))}"


@dataclass(frozen=True)
class _Query:
    """One SELECT. Its clauses run in this order, so that a verb that comes before another needs a query around it."""

    source: Rendered
    where: tuple[Rendered, ...] = ()
    columns: tuple[Expr, ...] | None = None
    #: How many of the columns are grouped by; None: there are no groups.
    keys: int | None = None
    is_distinct: bool = False
    order: tuple[tuple[Expr, bool, bool], ...] = ()
    limit: int | None = None

    @property
    def is_filter_only(self) -> bool:
        return self.columns is None and not self.is_distinct and self.limit is None

    def render(self) -> Rendered:
        parts = ["SELECT DISTINCT" if self.is_distinct else "SELECT"]
        params: list[Any] = []
        chosen = [Rendered("*")] if self.columns is None else [_named(column) for column in self.columns]
        parts.append(_joined(chosen, ", ", params))
        params += self.source.params
        parts.append(f"FROM {self.source.text}")
        if self.where:
            parts.append(f"WHERE {_joined(self.where, ' AND ', params)}")
        if self.keys:
            # By their places: an expression with values in it would not be known again.
            parts.append(f"GROUP BY {', '.join(str(at + 1) for at in range(self.keys))}")
        if self.order:
            terms = [
                Rendered(
                    f"{by.rendered.text}{' DESC' if down else ''} NULLS {'LAST' if last else 'FIRST'}",
                    by.rendered.params,
                )
                for by, down, last in self.order
            ]
            parts.append(f"ORDER BY {_joined(terms, ', ', params)}")
        if self.limit is not None:
            parts.append(f"LIMIT {self.limit}")
        return Rendered(" ".join(parts), tuple(params))

    def nested(self) -> _Query:
        """The same rows, as the source of another query. Their order goes with them as far as its columns do."""
        text, params = self.render()
        return _Query(Rendered(f"({text}) AS {SOURCE}", params), order=self.order if self.columns is None else ())


class Frame:
    """A query over a frame. Each verb gives another; nothing is sent before ``collect()`` or ``keep()``."""

    def __init__(
        self, connection: Operations, query: _Query, columns: Sequence[str] | None, handle: str | None = None
    ) -> None:
        self._connection = connection
        self._query = query
        #: Of the result; None: those of the frame, which are asked for where they are needed.
        self._names = None if columns is None else list(columns)
        self._handle = handle

    # Verbs

    def filter(self, *conditions: Expr) -> Frame:
        """The rows for which all conditions are true."""
        query = self._query if self._query.is_filter_only else self._query.nested()
        text = next((condition for condition in conditions if isinstance(condition, str)), None)
        if text is not None:
            raise TypeError(f'filter takes conditions such as col("symbol") == "x", and not the text {text!r}')
        made = [as_expr(condition) for condition in conditions]
        _refuse_aggregates(made, "filter")
        return self._made(replace(query, where=(*query.where, *(condition.rendered for condition in made))))

    def select(self, *columns: Columns, **named: str | Expr) -> Frame:
        """These columns, in this order; aggregates give one row."""
        chosen = _expressions(columns, named)
        if any(column.is_aggregate for column in chosen):
            return self._grouped((), chosen)
        return self._chosen(chosen)

    def with_columns(self, *columns: Columns, **named: str | Expr) -> Frame:
        """All columns, and these: behind the others, or in the place of one of the same name."""
        added = {column.name: column for column in _expressions(columns, named)}
        _refuse_aggregates(added.values(), "with_columns")
        names = self.columns
        kept = [added.get(name, as_expr(name)) for name in names]
        return self._chosen([*kept, *(column for name, column in added.items() if name not in names)])

    def group_by(self, *keys: Columns, **named: str | Expr) -> Groups:
        made = _expressions(keys, named)
        _refuse_aggregates(made, "group_by")
        return Groups(self, made)

    def join(self, other: Frame, on: str | Sequence[str], how: How = "inner", suffix: str = "_right") -> Frame:
        """The rows of both whose ``on`` are equal; NULL equals nothing. A name that both have gets the suffix in ``other``."""
        if how not in ("inner", "left", "semi", "anti"):
            raise ValueError(f"how is {how!r}; it is 'inner', 'left', 'semi' or 'anti'")
        if not isinstance(other, Frame) or other._connection is not self._connection:
            raise ValueError("a join is with a frame of the same connection")
        keys = [on] if isinstance(on, str) else list(on)
        left, right = self._source("l"), other._source("r")
        equal = " AND ".join(f"l.{quote_name(key)} = r.{quote_name(key)}" for key in keys)
        params = left.params + right.params
        if how in ("semi", "anti"):
            word = "EXISTS" if how == "semi" else "NOT EXISTS"
            text = f"SELECT l.* FROM {left.text} WHERE {word} (SELECT 1 FROM {right.text} WHERE {equal})"
            return Frame(self._connection, _Query(Rendered(f"({text}) AS {SOURCE}", params)), self.columns)
        mine, others = self.columns, [name for name in other.columns if name not in keys]
        new = [f"{name}{suffix}" if name in mine else name for name in others]
        chosen = [f"l.{quote_name(name)}" for name in mine]
        chosen += [f"r.{quote_name(name)} AS {quote_name(alias)}" for name, alias in zip(others, new)]
        text = f"SELECT {', '.join(chosen)} FROM {left.text} {how.upper()} JOIN {right.text} ON {equal}"
        return Frame(self._connection, _Query(Rendered(f"({text}) AS {SOURCE}", params)), [*mine, *new])

    def sort(self, *by: Columns, descending: bool | Sequence[bool] = False, nulls_last: bool = False) -> Frame:
        made = _expressions(by, {})
        _refuse_aggregates(made, "sort")
        downs = [descending] * len(made) if isinstance(descending, bool) else list(descending)
        if len(downs) != len(made):
            raise ValueError(f"descending has {len(downs)} values for {len(made)} columns")
        query = self._query if self._query.is_filter_only else self._query.nested()
        return self._made(replace(query, order=tuple((each, down, nulls_last) for each, down in zip(made, downs))))

    def limit(self, rows: int) -> Frame:
        """The first so many rows."""
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
            raise ValueError(f"limit is {rows!r}; it is a number of rows")
        query = self._query
        return self._made(replace(query, limit=rows if query.limit is None else min(rows, query.limit)))

    def distinct(self) -> Frame:
        """Each row once."""
        query = self._query.nested() if self._query.limit is not None else self._query
        return self._made(replace(query, is_distinct=True, order=()))

    # Rows

    @property
    def columns(self) -> list[str]:
        if self._names is None:
            assert self._handle is not None
            with self._connection.get(self._handle, rows=(0, 0), stream=True) as stream:
                self._names = stream.columns
        return self._names

    def sql(self) -> Statement:
        text, params = self._query.render()
        return Statement(text, list(params))

    def collect(self, *, engine: str | None = None) -> Result:
        """Runs it."""
        with self._told():
            return self._connection.sql(*self.sql(), engine=engine)

    def keep(
        self, name: str, mode: Mode = "create", ttl: str | float | None = None, *, engine: str | None = None
    ) -> Kept:
        """Runs it, and keeps its rows on the server as a frame."""
        with self._told():
            return self._connection.sql(*self.sql(), engine=engine, keep=name, mode=mode, ttl=ttl)

    def __repr__(self) -> str:
        return f"<framehold.Frame: {self.sql()}>"

    # Inner workings

    @contextmanager
    def _told(self) -> Iterator[None]:
        """An error tells of the frame, and not of the alias that it has here."""
        try:
            yield
        except SqlError as error:
            is_plain = self._handle is not None and self._query.source == _source_of(self._handle).source
            place = f" not found in {self._handle}" if is_plain else " not found"
            error.message = re.sub(rf" not found in [{SOURCE}lr]\b", lambda _: place, error.message)
            error.args = (error.message,)
            raise

    def _made(self, query: _Query, columns: Sequence[str] | None = None) -> Frame:
        return Frame(self._connection, query, columns if columns is not None else self._names, self._handle)

    def _chosen(self, columns: Sequence[Expr]) -> Frame:
        query = self._query
        if query.columns is not None or query.is_distinct:
            query = query.nested()
        return self._made(replace(query, columns=tuple(columns)), [column.name for column in columns])

    def _grouped(self, keys: Sequence[Expr], columns: Sequence[Expr]) -> Frame:
        query = self._query if self._query.is_filter_only else self._query.nested()
        chosen = (*keys, *columns)
        grouped = replace(query, columns=chosen, keys=len(keys), order=())
        return self._made(grouped, [column.name for column in chosen])._nested()

    def _nested(self) -> Frame:
        return self._made(self._query.nested())

    def _source(self, alias: str) -> Rendered:
        text, params = self._query.render()
        return Rendered(f"({text}) AS {alias}", params)


@dataclass(frozen=True)
class Groups:
    """What ``group_by`` gives: ``agg`` makes one row of each group."""

    frame: Frame
    keys: Sequence[Expr]

    def agg(self, *columns: Columns, **named: str | Expr) -> Frame:
        made = _expressions(columns, named)
        plain = next((column for column in made if not column.is_aggregate), None)
        if plain is not None:
            raise ValueError(
                f"{plain.name!r} is no aggregate: use sum(), mean(), min(), max(), count() …, or group by it"
            )
        return self.frame._grouped(self.keys, made)


def frame(connection: Operations, name: str) -> Frame:
    return Frame(connection, _source_of(name), None, name)


def _source_of(name: str) -> _Query:
    return _Query(Rendered(f"{quote_table(name)} AS {SOURCE}"))


def _expressions(columns: Iterable[Columns], named: dict[str, str | Expr]) -> list[Expr]:
    found: list[Expr] = []
    for column in columns:
        if isinstance(column, (str, Expr)) or not isinstance(column, Iterable):
            found.append(as_expr(column))
        else:
            found += map(as_expr, column)
    found += (as_expr(value).alias(name) for name, value in named.items())
    names = [column.name for column in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two columns are named {twice!r}: name one of them otherwise with alias()")
    if not found:
        raise ValueError("no columns are given")
    return found


def _refuse_aggregates(columns: Iterable[Expr], verb: str) -> None:
    aggregate = next((column for column in columns if column.is_aggregate), None)
    if aggregate is not None:
        raise ValueError(f"{verb} takes no aggregate, and {aggregate.rendered.text} is one: use group_by(…).agg(…)")


def _named(column: Expr) -> Rendered:
    return Rendered(f"{column.rendered.text} AS {quote_name(column.name)}", column.rendered.params)


def _joined(parts: Iterable[Rendered], between: str, params: list[Any]) -> str:
    texts = []
    for part in parts:
        texts.append(part.text)
        params += part.params
    return between.join(texts)
