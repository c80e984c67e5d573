"""How far something is: a bar where somebody watches, now and then a line where it goes into a file."""

from __future__ import annotations

import time
from typing import TextIO

BAR = 30


class Progress:
    """Counts up to `total`."""

    def __init__(self, out: TextIO, total: int, done: int, what: str) -> None:
        self.out, self.total, self.first, self.what = out, total, done, what
        self.began, self.shown = time.monotonic(), -1
        self.tty = bool(getattr(out, "isatty", lambda: False)())
        self.show(done)

    def show(self, done: int) -> None:
        """So many are done now."""
        if done == self.shown or not self.total:
            return
        if self.tty:
            filled = BAR * done // self.total
            self.out.write(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {self._words(done)}  ")
        elif done == self.total or self.shown < 0 or done * 20 // self.total > self.shown * 20 // self.total:
            self.out.write(f"{self._words(done)}\n")
        self.out.flush()
        self.shown = done

    def close(self) -> None:
        """What comes next begins on a line of its own."""
        if self.tty:
            self.out.write("\n")

    def _words(self, done: int) -> str:
        left = ""
        if self.first < done < self.total:
            pace = (time.monotonic() - self.began) / (done - self.first)
            left = f", about {_time(pace * (self.total - done))} to go"
        return f"{done} of {self.total} {self.what}{left}"


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
