"""A proxy between client and server that cuts connections where a test wants it."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class CuttingProxy:
    """``cut_answers``: so many answers are swallowed, and their connections cut, after the server has sent them.
    ``cut_requests``: so many requests are cut before their end. ``cut_after`` bytes of an answer it is cut in its midst."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cut_answers = 0
        self.cut_requests = 0
        self.cut_after: int | None = None
        self.cuts = 0
        #: Requests that came.
        self.asked = 0
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> CuttingProxy:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        _close(self._listener)
        self.cut_all()

    def cut_all(self) -> None:
        for sock in list(self._open):
            _close(sock)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                self._open |= {client, server}
                for serve in (self._up, self._down):
                    threading.Thread(target=serve, args=(client, server), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                self.asked += data.count(b" HTTP/1.1\r\n")
                if self.cut_requests > 0:
                    self.cut_requests -= 1
                    self._cut(client, server, server, data[: len(data) // 2])
                    return
                server.sendall(data)
        _close(server)

    def _down(self, client: socket.socket, server: socket.socket) -> None:
        sent = 0
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if self.cut_answers > 0:
                    self.cut_answers -= 1
                    self._cut(client, server, client, b"")
                    return
                if self.cut_after is not None and sent + len(data) > self.cut_after:
                    data, self.cut_after = data[: self.cut_after - sent], None
                    self._cut(client, server, client, data)
                    return
                client.sendall(data)
                sent += len(data)
        _close(client)

    def _cut(self, client: socket.socket, server: socket.socket, to: socket.socket, data: bytes) -> None:
        self.cuts += 1
        to.sendall(data)
        _close(client)
        _close(server)


def _close(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
    sock.close()
