"""Where the server is, and what is shown to it."""

from __future__ import annotations

from pathlib import Path

import pytest

import framehold
from framehold._transport.address import Address, find_server, parse_address

NOTHING = {"token": None, "tenant": None, "ca": None, "cert": None, "key": None}


def found(environment: dict[str, str], url: str | None = None, **given: str) -> tuple[str, str | None]:
    address, credentials = find_server(url, **{**NOTHING, **given}, environment=environment)  # type: ignore[arg-type]
    return str(address), credentials.token


def test_an_address_is_a_url() -> None:
    assert parse_address("http://localhost:9000") == Address("http", "localhost", 9000, "")
    assert parse_address(" https://frames.example.com/data/ ") == Address("https", "frames.example.com", 443, "/data")
    assert str(parse_address("http://[::1]:9000")) == "http://[::1]:9000"
    for wrong in ("localhost:9000", "grpc://localhost:50052", "http://", "http://host:port", "http://x/?a=1", ""):
        with pytest.raises(ValueError, match=r"http://127\.0\.0\.1:9000"):
            framehold.connect(wrong)
    with pytest.raises(ValueError, match="token=") as raised:
        framehold.connect("http://user:secret@localhost:9000")
    assert "secret" not in str(raised.value)


def test_variables_of_the_command_line_are_read(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert found(home) == ("http://127.0.0.1:9000", None)
    assert found({**home, "SERVICE_SERVER": "http://b:1", "FRAMEHOLD_SERVER": "http://a:1"}) == ("http://a:1", None)
    assert found({**home, "SERVICE_SERVER": "http://b:1", "FRAMEHOLD_SERVER": " "}) == ("http://b:1", None)
    assert found({**home, "FRAMEHOLD_TOKEN": " fh_1\n"}) == ("http://127.0.0.1:9000", "fh_1")
    assert found({**home, "FRAMEHOLD_TOKEN": "fh_1"}, "http://c:1", token="fh_2") == ("http://c:1", "fh_2")
    with pytest.raises(ValueError, match="no token has"):
        found(home, token="two\nlines")


def test_the_config_file_of_the_command_line_is_read(tmp_path: Path) -> None:
    tomllib = pytest.importorskip("tomllib")
    assert tomllib
    folder = tmp_path / ".framehold"
    folder.mkdir()
    (tmp_path / "token").write_text("fh_file\n")
    config = folder / "config.toml"
    config.write_text(f'[client]\nserver = "http://d:1"\ntoken_file = "{tmp_path}/token"\n')
    home = {"HOME": str(tmp_path)}
    assert found(home) == ("http://d:1", "fh_file")
    assert found({**home, "FRAMEHOLD_SERVER": "http://e:1"}) == ("http://e:1", "fh_file")
    config.write_text("[client\n[client]")
    with pytest.raises(ValueError, match="not TOML"):
        found(home)
    with pytest.raises(ValueError, match="no config file"):
        found({**home, "FRAMEHOLD_CONFIG": str(tmp_path / "none.toml")})
    (tmp_path / "token").unlink()
    config.write_text(f'[client]\ntoken_file = "{tmp_path}/token"\n')
    with pytest.raises(ValueError, match="token file"):
        found(home)


def test_connecting_sends_nothing() -> None:
    with framehold.connect("http://127.0.0.1:1") as server:
        assert repr(server) == "<framehold.Connection to http://127.0.0.1:1>"
