"""An answer of the server, and what it means where it is an error."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Any, TypeVar

from .address import Address
from .response import Response
from ..errors import BrokenConnectionError, FrameholdError, NoAnswerError, UnexpectedAnswerError, error_class

T = TypeVar("T")


class Answer:
    """Its body is read once; then, or when it is closed, the connection is free again."""

    def __init__(
        self,
        address: Address,
        connection: HTTPConnection,
        response: Response,
        keep: Callable[[HTTPConnection], None] | None,
    ) -> None:
        self._address = address
        self._connection: HTTPConnection | None = connection
        self._response = response
        self._keep = keep
        self.status = response.status
        if response.is_over:
            self._release()

    def header(self, name: str) -> str | None:
        return self._response.header(name)

    @property
    def is_json(self) -> bool:
        return (self.header("Content-Type") or "").startswith("application/json")

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, fewer only at the end. Raises where the connection breaks before it."""
        if self._connection is None:
            return b""
        try:
            data = self._response.read(size)
        except TimeoutError as error:
            self.close()
            raise no_answer(self._address) from error
        except (OSError, HTTPException) as error:
            self.close()
            raise BrokenConnectionError(
                f"the connection to {self._address} broke in the midst of an answer",
                hint="ask again; a reader that takes nothing for half a minute is cut off by the server",
                request_id=self.header("X-Request-Id"),
            ) from error
        except BaseException:
            self.close()
            raise
        if self._response.is_over:
            self._release()
        return data

    def json(self, parse: Callable[[Any], T]) -> T:
        """What ``parse`` makes of its JSON. Raises UnexpectedAnswerError where ``parse`` does not find what it looks for."""
        text = self.read()
        try:
            return parse(json.loads(text))
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise self.unexpected() from error

    def unexpected(self) -> FrameholdError:
        self.close()
        return unexpected_answer(self._address, self.status)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._response.close()
            connection.close()

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._keep is not None and self._response.is_kept:
            self._keep(connection)
        else:
            connection.close()


#: The server's advice, in words of this package.
_advice = {
    "send Authorization: Bearer <token>": "give one: connect(…, token=…), or FRAMEHOLD_TOKEN",
    "say overwrite or append": 'say mode="overwrite" or mode="append"',
    "or say overwrite": 'or say mode="overwrite"',
    "; overwrite replaces the frame": '; mode="overwrite" replaces the frame',
    ", or leave such rows out with atomicity=skipRow": "",
}


def _advised(hint: str | None) -> str | None:
    for theirs, ours in _advice.items():
        if hint is not None and theirs in hint:
            return hint.replace(theirs, ours)
    return hint


def refusal(address: Address, answer: Answer) -> FrameholdError:
    """What an answer that is no 2xx says."""
    text = answer.read()
    try:
        told = json.loads(text)
        message, code = str(told["error"]), told.get("code")
        kind = error_class(code)
    except (ValueError, TypeError, KeyError):
        return unexpected_answer(address, answer.status)
    retry_after = answer.header("Retry-After")
    return kind(
        message,
        code=code,
        hint=_advised(told.get("hint")),
        position=told.get("position"),
        retry_after=float(retry_after) if retry_after is not None and retry_after.isdigit() else None,
        request_id=answer.header("X-Request-Id"),
        status=answer.status,
    )


def unexpected_answer(address: Address, status: int) -> FrameholdError:
    return UnexpectedAnswerError(
        f"{address} answered {status}, and not as Framehold does",
        hint="check the address: connect(url), or FRAMEHOLD_SERVER",
        status=status,
    )


def no_answer(address: Address) -> FrameholdError:
    return NoAnswerError(
        f"{address} has sent nothing for too long",
        hint="connect(…, timeout=) waits longer; queries() tells whether a statement still runs",
    )
