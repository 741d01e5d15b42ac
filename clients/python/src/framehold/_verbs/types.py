"""What the server tells of frames, statements and itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Kept:
    """A frame that was written, and is on the disk of the server for good."""

    handle: str
    version: int
    #: That were written now.
    rows: int
    #: Of the frame, as it is stored.
    bytes: int
    #: An append that was sent twice, and added no rows the second time.
    repeated: bool = False


@dataclass(frozen=True)
class Column:
    name: str
    #: As docs/reference/types.md names it.
    type: str
    nullable: bool = True


@dataclass(frozen=True)
class FrameInfo:
    """A frame or a view. What cannot be known of a damaged one is None."""

    handle: str
    #: ``frame`` or ``view``.
    kind: str
    #: ``held`` or ``damaged``.
    state: str
    version: int | None
    #: Stays the same as long as the rows do.
    version_id: str | None
    rows: int | None
    columns: tuple[Column, ...] | None
    #: On the disk.
    bytes: int | None
    created: datetime | None
    #: The time to live, in seconds; None: it stays.
    ttl: float | None
    expires: datetime | None
    #: Why it cannot be read.
    damaged: str | None
    #: The whole answer: constraints of the frame, the query of a view.
    details: Mapping[str, Any] = field(repr=False, default_factory=dict)


@dataclass(frozen=True)
class Query:
    """A statement that is under way."""

    id: str
    tenant: str
    engine: str
    #: Its first 1000 characters.
    sql: str
    started: datetime
    elapsed_ms: int
    #: For engines that report it.
    progress: Mapping[str, int] | None


@dataclass(frozen=True)
class Engine:
    name: str
    kind: str
    #: ``up`` or ``down``.
    state: str
    version: str | None
    #: Why it is down.
    problem: str | None


@dataclass(frozen=True)
class Identity:
    """The caller, as the server knows it."""

    tenant: str
    name: str
    role: str
    #: Of the handles that it may use.
    prefix: str | None
    #: How it came in: ``token``, ``certificate`` …
    credential: str
    expires: datetime | None
    #: The tenant's frames and bytes, and its limits.
    use: Mapping[str, Any]
    limits: Mapping[str, Any]


@dataclass(frozen=True)
class ServerInfo:
    version: str | None
    #: ``host:port`` of the listener for Flight.
    grpc: str
    engines: tuple[str, ...]
    default_engine: str | None


def moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


def frame_info(told: Mapping[str, Any]) -> FrameInfo:
    columns = told.get("columns")
    return FrameInfo(
        handle=told["handle"],
        kind=told.get("kind", "frame"),
        state=told["state"],
        version=told.get("version"),
        version_id=told.get("versionId"),
        rows=told.get("rows"),
        columns=None
        if columns is None
        else tuple(Column(c["name"], c["type"], c.get("nullable", True)) for c in columns),
        bytes=(told.get("bytes") or {}).get("cold"),
        created=moment(told.get("created")),
        ttl=told.get("ttl"),
        expires=moment(told.get("expires")),
        damaged=told.get("damaged"),
        details=told,
    )


def page_of_frames(told: Mapping[str, Any]) -> tuple[list[FrameInfo], str | None]:
    return [frame_info(each) for each in told["handles"]], told.get("next")


def kept(told: Mapping[str, Any], rows: str) -> Kept:
    """``rows``: the field that counts those that were written."""
    return Kept(told["handle"], told["version"], told[rows], told["bytes"], told.get("repeated", False))


def shares(told: Mapping[str, Any]) -> list[str]:
    return [share["tenant"] for share in told["shares"]]


def done(told: Mapping[str, Any]) -> None:
    """Of an answer that says no more than that."""
    if not isinstance(told, Mapping):
        raise TypeError


def query(told: Mapping[str, Any]) -> Query:
    started = moment(told["started"])
    if started is None:
        raise ValueError
    names = ("id", "tenant", "engine", "sql", "elapsed_ms", "progress")
    return Query(started=started, **{name: told.get(name) for name in names})  # type: ignore[arg-type]


def engine(told: Mapping[str, Any]) -> Engine:
    return Engine(told["name"], told["kind"], told["state"], told.get("version"), told.get("problem"))


def server_info(told: Mapping[str, Any], host: str) -> ServerInfo:
    """``host``: by which the caller reaches it."""
    if told.get("name") != "framehold":
        raise ValueError
    grpc = told["grpc"]
    if grpc["host"] not in ("0.0.0.0", "::"):
        host = grpc["host"]
    netloc = f"[{host}]:{grpc['port']}" if ":" in host else f"{host}:{grpc['port']}"
    return ServerInfo(told.get("version"), netloc, tuple(told.get("engines", ())), told.get("default_engine"))


def identity(told: Mapping[str, Any]) -> Identity:
    return Identity(
        tenant=told["tenant"],
        name=told["name"],
        role=told["role"],
        prefix=told.get("prefix"),
        credential=told["credential"],
        expires=moment(told.get("expires")),
        use=told.get("use") or {},
        limits=told.get("limits") or {},
    )
