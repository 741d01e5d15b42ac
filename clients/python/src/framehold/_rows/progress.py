"""How far a transfer is: on a terminal or in a notebook, once it takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import Any

SHOWN_AFTER_SECONDS = 1.0
REDRAWN_EVERY_SECONDS = 0.1
BAR_WIDTH = 24


class Progress:
    """Counts rows and bytes. What is shown goes away when it ends."""

    def __init__(self, label: str, total_rows: int | None = None, display: _Display | None = None) -> None:
        self._label = label
        self._total = total_rows
        self._start = self._drawn = time.monotonic()
        self._rows = 0
        self._bytes = 0
        self._display = display if display is not None else find_display()
        self._is_shown = False

    def add(self, rows: int, size: int) -> None:
        self._rows += rows
        self._bytes += size
        if self._display is None:
            return
        now = time.monotonic()
        if now - self._start >= SHOWN_AFTER_SECONDS and now - self._drawn >= REDRAWN_EVERY_SECONDS:
            self._drawn, self._is_shown = now, True
            self._display.show(self.text(now - self._start))

    def text(self, seconds: float) -> str:
        rate = f"{_size(self._bytes / seconds)}/s" if seconds > 0 else ""
        rows = f"{self._rows:,} rows, " if self._rows else ""  # of a file they are not known
        counts = f"{rows}{_size(self._bytes)}, {rate}"
        if not self._total:
            return f"{self._label}  {counts}"
        part = min(self._rows / self._total, 1.0)
        bar = "█" * round(part * BAR_WIDTH) + "░" * (BAR_WIDTH - round(part * BAR_WIDTH))
        return f"{self._label}  {bar} {part:4.0%}  {counts}"

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._is_shown and self._display is not None:
            self._display.clear()


class _Display:
    def show(self, text: str) -> None:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


class TerminalDisplay(_Display):
    def show(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class NotebookDisplay(_Display):
    """By IPython, which is there where a notebook is. As plain text: what a notebook keeps of it is empty."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        self._update(text)

    def clear(self) -> None:
        self._update("")

    def _update(self, text: str) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": text}, raw=True)


def find_display() -> _Display | None:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if type(shell).__name__ == "ZMQInteractiveShell":
        return NotebookDisplay()
    try:
        return TerminalDisplay() if sys.stderr is not None and sys.stderr.isatty() else None
    except ValueError:  # closed
        return None


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
