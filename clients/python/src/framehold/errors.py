"""What goes wrong, as classes: one for each code of the server, and for what happens on the way to it."""

from __future__ import annotations

from typing import ClassVar


class FrameholdError(Exception):
    """Something that was asked for did not come about. Every error of this package is one."""

    default_code: ClassVar[str | None] = None

    #: Stable, for programs: the codes of the server's reference, and of the classes below.
    code: str | None
    #: The fault, and the value that caused it. For people; the wording may change.
    message: str
    #: A remedy.
    hint: str | None
    #: Where in the SQL text, from 0, in UTF-16 code units.
    position: int | None
    #: After how many seconds another attempt makes sense.
    retry_after: float | None
    #: Under which the server's log has the details.
    request_id: str | None
    #: Of HTTP; None if no answer came.
    status: int | None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        position: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code if code is not None else self.default_code
        self.hint = hint
        self.position = position
        self.retry_after = retry_after
        self.request_id = request_id
        self.status = status

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} ({self.hint})"


# Failures before an answer, or in its midst


class UnreachableError(FrameholdError):
    """No server could be connected to: nothing was sent."""

    default_code = "unreachable"


class BrokenConnectionError(FrameholdError):
    """The connection broke before the whole answer had come. What was asked for may have happened."""

    default_code = "broken_connection"


class NoAnswerError(FrameholdError):
    """No answer came within ``timeout``. What was asked for may have happened, or still happen."""

    default_code = "no_answer"


class UnexpectedAnswerError(FrameholdError):
    """What answered is no Framehold server, or one of another version."""

    default_code = "unexpected_answer"


# Errors of the server


class UnauthenticatedError(FrameholdError):
    default_code = "unauthenticated"


class ForbiddenError(FrameholdError):
    default_code = "forbidden"


class RateLimitedError(FrameholdError):
    default_code = "rate_limited"


class QuotaExceededError(FrameholdError):
    default_code = "quota_exceeded"


class AuthUnavailableError(FrameholdError):
    default_code = "auth_unavailable"


class AuditUnavailableError(FrameholdError):
    default_code = "audit_unavailable"


class MissingParameterError(FrameholdError):
    default_code = "missing_parameter"


class AmbiguousModeError(FrameholdError):
    default_code = "ambiguous_mode"


class InvalidParameterError(FrameholdError):
    default_code = "invalid_parameter"


class UnsupportedFormatError(FrameholdError):
    default_code = "unsupported_format"


class InvalidLimitError(FrameholdError):
    default_code = "invalid_limit"


class InvalidHandleError(FrameholdError):
    default_code = "invalid_handle"


class HandleNotFoundError(FrameholdError):
    default_code = "handle_not_found"


class HandleGoneError(FrameholdError):
    default_code = "handle_gone"


class HandleExistsError(FrameholdError):
    default_code = "handle_exists"


class SchemaMismatchError(FrameholdError):
    default_code = "schema_mismatch"


class FrameChangedError(FrameholdError):
    default_code = "frame_changed"


class ProducerGapError(FrameholdError):
    default_code = "producer_gap"


class ProducerFencedError(FrameholdError):
    default_code = "producer_fenced"


class InvalidInputError(FrameholdError):
    default_code = "invalid_input"


class UnsupportedTypeError(FrameholdError):
    default_code = "unsupported_type"


class TooLargeError(FrameholdError):
    default_code = "too_large"


class RequestTooLongError(FrameholdError):
    default_code = "request_too_long"


class WrongHostError(FrameholdError):
    default_code = "wrong_host"


class NotFoundError(FrameholdError):
    default_code = "not_found"


class MethodNotAllowedError(FrameholdError):
    default_code = "method_not_allowed"


class OverloadedError(FrameholdError):
    default_code = "overloaded"


class TsdbNotConfiguredError(FrameholdError):
    default_code = "tsdb_not_configured"


class TsdbUnreachableError(FrameholdError):
    default_code = "tsdb_unreachable"


class TsdbTimeoutError(FrameholdError):
    default_code = "tsdb_timeout"


class SqlError(FrameholdError):
    default_code = "sql_error"


class SqlForbiddenError(FrameholdError):
    default_code = "sql_forbidden"


class SqlCancelledError(FrameholdError):
    default_code = "sql_cancelled"


class SqlTimeoutError(FrameholdError):
    default_code = "sql_timeout"


class SqlOutOfMemoryError(FrameholdError):
    default_code = "sql_out_of_memory"


class EngineCrashedError(FrameholdError):
    default_code = "engine_crashed"


class EngineUnreachableError(FrameholdError):
    default_code = "engine_unreachable"


class EngineTimeoutError(FrameholdError):
    default_code = "engine_timeout"


class StorageFullError(FrameholdError):
    default_code = "storage_full"


class StorageReadOnlyError(FrameholdError):
    default_code = "storage_read_only"


class FrameDamagedError(FrameholdError):
    default_code = "frame_damaged"


class InternalError(FrameholdError):
    default_code = "internal"


_classes = {kind.default_code: kind for kind in FrameholdError.__subclasses__()}


def error_class(code: str | None) -> type[FrameholdError]:
    """That of a code; the base class for one that this version of the package does not know."""
    return _classes.get(code, FrameholdError)
