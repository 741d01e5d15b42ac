"""Answers of HTTP/1.1. `http.client` reads their headers with the parser of e-mail, which takes as long as the rest of a small request."""

from __future__ import annotations

from http.client import BadStatusLine, HTTPException, IncompleteRead, RemoteDisconnected
from socket import socket

MOST_LINE_BYTES = 65_536
MOST_HEADERS = 100
HEXADECIMAL = b"0123456789abcdefABCDEF"


class Response:
    """Status and headers, which are read at once, and the body, which is read once. Raises HTTPException and OSError."""

    def __init__(self, sock: socket) -> None:
        self._file = sock.makefile("rb")
        self.is_over = False
        try:
            version, self.status, self._headers = self._read_head()
        except BaseException:
            # As long as it is open, so is the socket.
            self.close()
            raise
        self._is_chunked = (self.header("Transfer-Encoding") or "").lower() == "chunked"
        #: Bytes of the body, or of the chunk, that are not read yet; None: up to the end of the connection.
        self._left: int | None = 0 if self._is_chunked else self._length()
        connection = (self.header("Connection") or "").lower()
        is_kept = "close" not in connection if version == b"HTTP/1.1" else "keep-alive" in connection
        #: Whether another request may follow on the connection.
        self.is_kept = is_kept and self._left is not None
        if self._left == 0 and not self._is_chunked:
            self.close()

    def header(self, name: str) -> str | None:
        return self._headers.get(name.lower())

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, fewer only at the end; a negative one is all."""
        pieces = []
        while size != 0 and not self.is_over:
            if self._is_chunked and self._left == 0:
                self._begin_chunk()
                continue
            piece = self._read_piece(size)
            pieces.append(piece)
            size -= len(piece) if size > 0 else 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        self.is_over = True
        self._file.close()

    def _read_piece(self, size: int) -> bytes:
        if self._left is None:
            piece = self._file.read(size)
            if size < 0 or len(piece) < size:
                self.close()
            return piece
        wanted = self._left if size < 0 else min(self._left, size)
        piece = self._file.read(wanted)
        self._left -= len(piece)
        if len(piece) < wanted:
            raise IncompleteRead(piece, self._left)
        if self._left == 0:
            if self._is_chunked:
                self._read_line()
            else:
                self.close()
        return piece

    def _begin_chunk(self) -> None:
        size = self._read_line().partition(b";")[0].strip()
        if not size or size.strip(HEXADECIMAL):
            raise HTTPException(f"{size[:80]!r} is no size of a chunk")
        self._left = int(size, 16)
        if self._left == 0:
            self._read_headers()
            self.close()

    def _length(self) -> int | None:
        if self.status in (204, 304):
            return 0
        length = self.header("Content-Length")
        return int(length) if length is not None and length.isdecimal() else None

    def _read_head(self) -> tuple[bytes, int, dict[str, str]]:
        while True:
            version, status = self._read_status()
            headers = self._read_headers()
            if not 100 <= status < 200:
                return version, status, headers

    def _read_status(self) -> tuple[bytes, int]:
        line = self._read_line()
        if not line:
            raise RemoteDisconnected("the connection was closed without an answer")
        if not line.endswith(b"\n") and b"HTTP/1.".startswith(line[:7]):
            raise IncompleteRead(line)
        version, _, rest = line.partition(b" ")
        if not version.startswith(b"HTTP/1.") or not rest[:3].isdigit():
            raise BadStatusLine(line.decode("latin-1"))
        return version, int(rest[:3])

    def _read_headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(MOST_HEADERS):
            line = self._read_line()
            if line in (b"\r\n", b"\n"):
                return headers
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon:
                raise HTTPException(f"{line[:80]!r} is no header")
            headers[name.lower()] = value.strip()
        raise HTTPException(f"an answer has more than {MOST_HEADERS} headers")

    def _read_line(self) -> bytes:
        line = self._file.readline(MOST_LINE_BYTES + 1)
        if len(line) > MOST_LINE_BYTES:
            raise HTTPException("a line of an answer is too long")
        return line
