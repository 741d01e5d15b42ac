"""Which server, and what a client shows it: given, or found where the command line finds it."""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

DEFAULT_SERVER = "http://127.0.0.1:9000"

PathText = str | os.PathLike[str]


@dataclass(frozen=True)
class Address:
    """Where a server is. ``prefix`` is the path below which it is served, without a slash at its end."""

    scheme: str
    host: str
    port: int
    prefix: str

    @property
    def is_tls(self) -> bool:
        return self.scheme == "https"

    @property
    def netloc(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.netloc}{self.prefix}"


def parse_address(url: str) -> Address:
    example = "expected an address such as http://127.0.0.1:9000 or https://frames.example.com"
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r} is no address: {error}; {example}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no address of a server; {example}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address has no user and password: give token=, or set FRAMEHOLD_TOKEN")
    if parts.query or parts.fragment:
        raise ValueError(f"{url!r} has more than an address; {example}")
    default_port = 443 if parts.scheme == "https" else 80
    return Address(parts.scheme, parts.hostname, port if port is not None else default_port, parts.path.rstrip("/"))


@dataclass(frozen=True)
class Credentials:
    """What is shown with every request, and whom to trust. The files are PEM."""

    token: str | None = None
    tenant: str | None = None
    ca: PathText | None = None
    cert: PathText | None = None
    key: PathText | None = None

    @property
    def headers(self) -> dict[str, str]:
        headers = {}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.tenant is not None:
            headers["X-Framehold-Tenant"] = self.tenant
        return headers

    def ssl_context(self) -> ssl.SSLContext:
        if (self.cert is None) != (self.key is None):
            given, missing = ("cert", "key") if self.key is None else ("key", "cert")
            raise ValueError(f"{given} is given without {missing}; give both, or neither")
        try:
            context = ssl.create_default_context(cafile=None if self.ca is None else os.fspath(self.ca))
        except (ssl.SSLError, OSError) as error:
            raise ValueError(f"ca={os.fspath(self.ca or '')!r} holds no certificate in PEM form: {error}") from error
        if self.cert is not None and self.key is not None:
            try:
                context.load_cert_chain(os.fspath(self.cert), os.fspath(self.key))
            except (ssl.SSLError, OSError) as error:
                files = f"cert={os.fspath(self.cert)!r} and key={os.fspath(self.key)!r}"
                raise ValueError(f"{files} are not a certificate and its key in PEM form: {error}") from error
        return context


def find_server(
    url: str | None,
    *,
    token: str | None,
    tenant: str | None,
    ca: PathText | None,
    cert: PathText | None,
    key: PathText | None,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Address, Credentials]:
    """What is not given comes from the variables and the file that ``framehold ls`` reads."""
    settings = _ClientSettings(environment)
    url = url if url is not None else settings.get("server") or DEFAULT_SERVER
    if token is None:
        token = environment.get("FRAMEHOLD_TOKEN", "").strip() or settings.token()
    if token is not None:
        token = token.strip()
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("the token has characters that no token has; give the text that `framehold token` printed")
    if cert is None and key is None:
        cert, key = settings.path("cert_file"), settings.path("key_file")
    ca = ca if ca is not None else settings.path("ca_file")
    return parse_address(url), Credentials(token, tenant, ca, cert, key)


class _ClientSettings:
    """The section ``[client]`` of the settings: variables first, then the config file."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._file: Mapping[str, object] | None = None

    def get(self, name: str) -> str | None:
        variable = name.upper()
        for prefix in ("FRAMEHOLD_", "SERVICE_"):
            text = self._environment.get(prefix + variable, "").strip()
            if text:
                return text
        if self._file is None:
            self._file = self._read_file()
        value = self._file.get(name)
        return value.strip() or None if isinstance(value, str) else None

    def path(self, name: str) -> Path | None:
        text = self.get(name)
        return None if text is None else Path(text).expanduser()

    def token(self) -> str | None:
        file = self.path("token_file")
        if file is None:
            return None
        try:
            return file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ValueError(f"the token file {file} (client.token_file) cannot be read: {error.strerror}") from error

    def _read_file(self) -> Mapping[str, object]:
        named = next(
            (v for p in ("FRAMEHOLD_", "SERVICE_") if (v := self._environment.get(p + "CONFIG", "").strip())), None
        )
        home = Path(self._environment.get("HOME") or Path.home())
        paths = (
            [Path(named).expanduser()] if named else [home / at / "config.toml" for at in (".framehold", ".service")]
        )
        for path in paths:
            try:
                text = path.read_bytes()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ValueError(f"the config file {path} cannot be read: {error.strerror}") from error
            return _client_section(text, path)
        if named:
            raise ValueError(f"there is no config file {named} (named by FRAMEHOLD_CONFIG)")
        return {}


def _client_section(text: bytes, path: Path) -> Mapping[str, object]:
    if b"[client]" not in text:
        return {}
    if sys.version_info < (3, 11):
        raise ValueError(
            f"Python 3.10 cannot read {path}: give url=, or set FRAMEHOLD_SERVER, and FRAMEHOLD_CONFIG to another file"
        )
    import tomllib

    try:
        section = tomllib.loads(text.decode()).get("client", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"the config file {path} is not TOML: {error}") from error
    return section if isinstance(section, dict) else {}
