"""Connections to a server: kept while they are idle, and shared by threads."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import ssl
import threading
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection

from .address import Address
from ..errors import FrameholdError, UnreachableError

CONNECT_SECONDS = 10.0
#: The server closes a connection that was idle for ten seconds.
IDLE_SECONDS = 8.0
MOST_IDLE = 8


class Pool:
    def __init__(self, address: Address, tls: ssl.SSLContext | None) -> None:
        self._address = address
        self._tls = tls
        self._lock = threading.Lock()
        self._idle: list[tuple[HTTPConnection, float]] = []
        self._process = os.getpid()
        self._is_closed = False

    def connect(self) -> HTTPConnection:
        """One that was kept, or a new one. Raises UnreachableError."""
        kept = self._take()
        if kept is not None:
            return kept
        address, tls = self._address, self._tls
        connection = (
            HTTPConnection(address.host, address.port, timeout=CONNECT_SECONDS)
            if tls is None
            else HTTPSConnection(address.host, address.port, timeout=CONNECT_SECONDS, context=tls)
        )
        try:
            connection.connect()
        except (OSError, HTTPException) as error:
            connection.close()
            raise unreachable(address, error) from error
        # So that a machine that is gone is found out while its answer is waited for.
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                connection.sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        return connection

    def keep(self, connection: HTTPConnection) -> None:
        with self._lock:
            if not self._is_closed and len(self._idle) < MOST_IDLE and self._process == os.getpid():
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _take(self) -> HTTPConnection | None:
        with self._lock:
            if self._is_closed:
                raise ValueError("this connection is closed; framehold.connect() makes another")
            if self._process != os.getpid():
                # After a fork the sockets are the parent's.
                self._idle, self._process = [], os.getpid()
            while self._idle:
                connection, since = self._idle.pop()
                is_fresh = time.monotonic() - since < IDLE_SECONDS
                if is_fresh and connection.sock is not None and not is_readable(connection.sock):
                    return connection
                connection.close()
        return None


class Abort:
    """Ends a request from another thread."""

    def __init__(self) -> None:
        self.is_set = False
        self._lock = threading.Lock()
        self._sock: socket.socket | None = None

    def watch(self, sock: socket.socket | None) -> None:
        with self._lock:
            self._sock = sock
            if self.is_set:
                self._cut()

    def set(self) -> None:
        with self._lock:
            self.is_set = True
            self._cut()

    def _cut(self) -> None:
        if self._sock is not None:
            with contextlib.suppress(OSError):
                # Not that of TLS, which takes the connection away from under the thread that reads.
                socket.socket.shutdown(self._sock, socket.SHUT_RDWR)


def is_readable(sock: socket.socket) -> bool:
    """Whether something came, or the other side has closed."""
    if isinstance(sock, ssl.SSLSocket) and sock.pending() > 0:
        return True
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([sock], [], [], 0)[0])


def unreachable(address: Address, error: Exception) -> FrameholdError:
    hint = "check the address and the network"
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = f"the certificate of {address} is not trusted: {error.verify_message}"
        hint = "ca= names the authority that signed it, as PEM"
    elif isinstance(error, ssl.SSLError):
        reason = f"there is no TLS with {address}: {error.reason or error}"
        hint = "http:// is without TLS; a server may want a client certificate (cert=, key=)"
    elif isinstance(error, TimeoutError):
        reason = f"no answer in time from {address}"
    elif isinstance(error, socket.gaierror):
        reason, hint = f"there is no such host: {address.host}", "check the address"
    elif isinstance(error, ConnectionRefusedError):
        reason = f"no server answers at {address}"
        hint = 'is it running? "framehold server" starts one; connect(url) or FRAMEHOLD_SERVER names another'
    else:
        reason = f"cannot connect to {address}: {error}"
    return UnreachableError(reason, hint=hint)
