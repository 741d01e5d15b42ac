"""TLS, tokens and client certificates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import framehold
from framehold import errors

Connect = Callable[..., framehold.Connection]


@pytest.fixture
def connect(secure_url: str, secure_folder: Path) -> Connect:
    def connected(token: str | None = "token", **options: object) -> framehold.Connection:
        text = None if token is None else (secure_folder / token).read_text()
        files = {name: secure_folder / str(file) for name, file in options.items()}
        return framehold.connect(secure_url, token=text, **{"ca": secure_folder / "ca.crt", **files})  # type: ignore[arg-type]

    return connected


def test_every_operation_works_with_a_token(connect: Connect, name: str) -> None:
    with connect() as server:
        assert (server.whoami().role, server.whoami().credential) == ("write", "token")
        server.put(name, pa.table({"n": list(range(200_000))}))
        with server.append(name) as ticks:
            ticks.write({"n": 200_000})
        assert len(server.get(name)) == 200_001
        assert server.sql(f"SELECT max(n) AS n FROM {name}")["n"] == [200_000]
        with server.follow(name, start=200_000) as follower:
            assert next(follower).num_rows == 1
        assert [frame.handle for frame in server.handles(name)] == [name]
        server.drop(name)


def test_a_client_certificate_needs_no_token(connect: Connect) -> None:
    with connect(token=None, cert="client.crt", key="client.key") as server:
        assert (server.whoami().name, server.whoami().credential) == ("etl-7", "certificate")
        assert server.sql("SELECT 1 AS n")["n"] == [1]


def test_a_wrong_credential_is_told_and_never_shown(connect: Connect, secure_folder: Path, name: str) -> None:
    with connect("revoked-token") as server, pytest.raises(errors.UnauthenticatedError) as raised:
        server.handles()
    assert (secure_folder / "revoked-token").read_text().strip() not in f"{raised.value!r} {raised.value}"
    with connect(token=None) as server, pytest.raises(errors.UnauthenticatedError):
        server.handles()
    with connect("read-token") as server, pytest.raises(errors.ForbiddenError, match="needs the role write"):
        server.put(name, {"n": [1]})
    with connect("read-token") as server, pytest.raises(errors.ForbiddenError):
        server.put(name, ({"n": list(range(100_000))} for _ in range(50)))


def test_a_server_that_is_not_trusted_is_not_talked_to(connect: Connect, secure_url: str, secure_folder: Path) -> None:
    with (
        framehold.connect(secure_url, token="fh_x") as server,
        pytest.raises(errors.UnreachableError, match="not trusted"),
    ):
        server.handles()
    with connect(token=None, cert="stranger.crt", key="stranger.key") as server:
        with pytest.raises((errors.UnreachableError, errors.BrokenConnectionError)):
            server.handles()
    plain = secure_url.replace("https://", "http://")
    with framehold.connect(plain) as server, pytest.raises(errors.FrameholdError):
        server.handles()


def test_files_that_are_no_certificates_are_told(secure_url: str, secure_folder: Path) -> None:
    with pytest.raises(ValueError, match="ca="):
        framehold.connect(secure_url, ca=secure_folder / "token")
    with pytest.raises(ValueError, match="cert is given without key"):
        framehold.connect(secure_url, cert=secure_folder / "client.crt")
    with pytest.raises(ValueError, match="not a certificate and its key"):
        framehold.connect(secure_url, cert=secure_folder / "client.crt", key=secure_folder / "stranger.key")


def test_frames_are_shared_by_admins_alone(connect: Connect, name: str) -> None:
    with connect() as server:
        server.put(name, {"n": [1]})
        for ask in (
            lambda: server.share(name, "other"),
            lambda: server.unshare(name, "other"),
            lambda: server.shares(name),
        ):
            with pytest.raises(errors.ForbiddenError):
                ask()
