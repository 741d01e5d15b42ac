"""Files of any format that the server reads, as the body of a request."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from .data import PIECE_BYTES

_media_types = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "tab": "text/tab-separated-values",
    "parquet": "application/vnd.apache.parquet",
    "pq": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "arrows": "application/vnd.apache.arrow.stream",
    "feather": "application/vnd.apache.arrow.file",
    "ipc": "application/vnd.apache.arrow.file",
    "json": "application/json",
    "ndjson": "application/x-ndjson",
    "jsonl": "application/x-ndjson",
}


def is_file(data: object) -> bool:
    """A path, or an open file."""
    return isinstance(data, os.PathLike) or (hasattr(data, "read") and hasattr(data, "readable"))


class FileBody:
    """The bytes of a file, which is read while it is sent. ``on_piece`` is told how many bytes of it were."""

    def __init__(self, data: Any, on_piece: Callable[[int, int], None]) -> None:
        self._path = data if isinstance(data, os.PathLike) else None
        #: Opened now, so that a missing file is reported before anything is sent.
        self._file: Any = open(data, "rb") if self._path is not None else data
        self._on_piece = on_piece
        self._was_read = False
        name = self._path if self._path is not None else getattr(data, "name", "")
        self.media_type = _media_type(os.fspath(name) if isinstance(name, (str, os.PathLike)) else "")

    @property
    def is_repeatable(self) -> bool:
        return not self._was_read or self._path is not None

    def write_to(self, send: Callable[[bytes], None]) -> None:
        if self._was_read and self._path is not None:
            self._file = open(self._path, "rb")
        self._was_read = True
        try:
            while piece := self._file.read(PIECE_BYTES):
                size = len(piece)
                send(piece.encode() if isinstance(piece, str) else bytes(piece))
                self._on_piece(0, size)
        finally:
            self.close()

    def close(self) -> None:
        """Only what was opened here."""
        if self._path is not None:
            self._file.close()


def _media_type(name: str) -> str:
    """By the ending; where that does not tell, the server looks at the first bytes."""
    ending = PurePath(re.sub(r"\.(gz|gzip|zst|zstd)$", "", name, flags=re.IGNORECASE)).suffix
    return _media_types.get(ending[1:].lower(), "application/octet-stream")
