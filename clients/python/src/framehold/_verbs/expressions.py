"""Expressions over columns, for the verbs of a Frame. What is here means the same in DuckDB, in Spark and in Polars."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .names import quote_name

#: The alias of a query's source. Columns are qualified with it, so that the name of a result never hides one.
SOURCE = "t"


class Rendered(NamedTuple):
    """SQL with ``?`` for values, and the values in their order."""

    text: str
    params: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Expr:
    """``col("price") > 100``. Conditions are joined with ``&``, ``|`` and ``~``, with parentheses around each."""

    rendered: Rendered
    #: Of the column in a result.
    name: str
    is_aggregate: bool = False

    # Arithmetic: a quotient is a float, also of whole numbers.

    def __add__(self, other: Any) -> Expr:
        return self._with("({} + {})", other)

    def __radd__(self, other: Any) -> Expr:
        return lit(other)._with("({} + {})", self)

    def __sub__(self, other: Any) -> Expr:
        return self._with("({} - {})", other)

    def __rsub__(self, other: Any) -> Expr:
        return lit(other)._with("({} - {})", self)

    def __mul__(self, other: Any) -> Expr:
        return self._with("({} * {})", other)

    def __rmul__(self, other: Any) -> Expr:
        return lit(other)._with("({} * {})", self)

    def __truediv__(self, other: Any) -> Expr:
        return self._with("(CAST({} AS DOUBLE) / CAST({} AS DOUBLE))", other)

    def __rtruediv__(self, other: Any) -> Expr:
        return lit(other)._with("(CAST({} AS DOUBLE) / CAST({} AS DOUBLE))", self)

    def __neg__(self) -> Expr:
        return self._with("(- {})")

    def abs(self) -> Expr:
        return self._with("abs({})")

    # Conditions: of NULL they are NULL, and a filter keeps rows where they are true. NaN is equal to itself and greater than all.

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return self._compared("=", other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return self._compared("<>", other)

    def __lt__(self, other: Any) -> Expr:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Expr:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Expr:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Expr:
        return self._compared(">=", other)

    def __and__(self, other: Any) -> Expr:
        return self._with("({} AND {})", other)

    def __rand__(self, other: Any) -> Expr:
        return lit(other)._with("({} AND {})", self)

    def __or__(self, other: Any) -> Expr:
        return self._with("({} OR {})", other)

    def __ror__(self, other: Any) -> Expr:
        return lit(other)._with("({} OR {})", self)

    def __invert__(self) -> Expr:
        return self._with("(NOT {})")

    def __bool__(self) -> bool:
        raise TypeError(
            "a condition has no truth of its own: write & for and, | for or, ~ for not, and parentheses around each"
        )

    __hash__ = None  # type: ignore[assignment]

    def is_null(self) -> Expr:
        return self._with("({} IS NULL)")

    def is_not_null(self) -> Expr:
        return self._with("({} IS NOT NULL)")

    def is_between(self, low: Any, high: Any) -> Expr:
        """Both ends included."""
        return self._with("({} BETWEEN {} AND {})", low, high)

    def is_in(self, values: Iterable[Any]) -> Expr:
        listed = [value for value in values if value is not None]
        if not listed:
            return self._with("({} <> {})", self)
        return self._with(f"({{}} IN ({', '.join(['{}'] * len(listed))}))", *listed)

    # Text

    def starts_with(self, text: str) -> Expr:
        return self._with("({} LIKE {} ESCAPE '!')", f"{_literally(text)}%")

    def ends_with(self, text: str) -> Expr:
        return self._with("({} LIKE {} ESCAPE '!')", f"%{_literally(text)}")

    def contains(self, text: str) -> Expr:
        """As it stands there: no pattern."""
        return self._with("({} LIKE {} ESCAPE '!')", f"%{_literally(text)}%")

    def length(self) -> Expr:
        """Of a text, in characters."""
        return self._with("length({})")

    # Dates and timestamps, in UTC

    def year(self) -> Expr:
        return self._with("year({})")

    def month(self) -> Expr:
        return self._with("month({})")

    def day(self) -> Expr:
        return self._with("day({})")

    def hour(self) -> Expr:
        return self._with("hour({})")

    def minute(self) -> Expr:
        return self._with("minute({})")

    # Aggregates: NULL is left out.

    def sum(self) -> Expr:
        """0 where there are no values; of whole numbers on the engine local a decimal, which does not overflow."""
        return self._aggregate("coalesce(sum({}), 0)")

    def mean(self) -> Expr:
        return self._aggregate("avg({})")

    def min(self) -> Expr:
        return self._aggregate("min({})")

    def max(self) -> Expr:
        """NaN where there is one."""
        return self._aggregate("max({})")

    def std(self) -> Expr:
        """Of a sample; NULL of a single value."""
        return self._aggregate("stddev_samp({})")

    def var(self) -> Expr:
        return self._aggregate("var_samp({})")

    def count(self) -> Expr:
        """Of the values that are not NULL; ``framehold.count()`` counts rows."""
        return self._aggregate("count({})")

    def n_unique(self) -> Expr:
        """How many different values there are; NULL is one."""
        return self._aggregate("(count(DISTINCT {}) + CASE WHEN count(*) > count({}) THEN 1 ELSE 0 END)", self)

    # Names and defaults

    def alias(self, name: str) -> Expr:
        return Expr(self.rendered, name, self.is_aggregate)

    def fill_null(self, value: Any) -> Expr:
        return self._with("coalesce({}, {})", value)

    def __repr__(self) -> str:
        values = f" with {', '.join(map(repr, self.rendered.params))}" if self.rendered.params else ""
        return f"<framehold.Expr {self.rendered.text}{values}>"

    def _compared(self, operator: str, other: object) -> Expr:
        if other is None:
            raise TypeError("nothing equals NULL: use is_null() or is_not_null()")
        return self._with(f"({{}} {operator} {{}})", other)

    def _aggregate(self, template: str, *others: Any) -> Expr:
        if self.is_aggregate:
            raise ValueError(f"an aggregate of an aggregate: {self.rendered.text}")
        made = self._with(template, *others)
        return Expr(made.rendered, made.name, True)

    def _with(self, template: str, *others: Any) -> Expr:
        operands = [self, *(other if isinstance(other, Expr) else lit(other) for other in others)]
        text = template.format(*(operand.rendered.text for operand in operands))
        params = tuple(value for operand in operands for value in operand.rendered.params)
        return Expr(Rendered(text, params), self.name, any(operand.is_aggregate for operand in operands))


def _literally(text: str) -> str:
    """For LIKE, without patterns."""
    return re.sub("([!%_])", r"!\1", text)


def col(name: str) -> Expr:
    """A column."""
    if not isinstance(name, str):
        raise TypeError(f"col() takes the name of a column, and not {name!r}")
    return Expr(Rendered(f"{SOURCE}.{quote_name(name)}"), name)


def lit(value: Any) -> Expr:
    """A value, which is sent apart from the SQL."""
    if isinstance(value, Expr):
        return value
    return Expr(Rendered("NULL"), "literal") if value is None else Expr(Rendered("?", (value,)), "literal")


def count() -> Expr:
    """How many rows there are."""
    return Expr(Rendered("count(*)"), "count", True)


def as_expr(value: str | Expr) -> Expr:
    """A text is the name of a column."""
    if isinstance(value, (str, Expr)):
        return col(value) if isinstance(value, str) else value
    raise TypeError(f"expected the name of a column or an expression, and not {value!r}")
