"""Find the failures that a running app reports in its logs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.live.stack import Running

_FAILURE = re.compile(
    r"(?:\b(?:ERROR|CRITICAL)\b|\"level\": \"(?:error|critical)\").*|^[\w.]+(?:Error|Exception)\b.*",
    re.MULTILINE,
)
"""The pattern of log lines that report a failure."""


class FailureLog:
    """Reads the logs of a running app from where it last stopped reading."""

    def __init__(self, stack: Running) -> None:
        self.folder = Path(stack.environment["BRIGADE_VAR"]) / "log"
        self.seen: dict[Path, int] = {}

    def failures(self) -> Counter[str]:
        """Return the failures that the logs report since the last call."""
        found: Counter[str] = Counter()
        for log in self.folder.glob("*.log"):
            if log.stat().st_size > self.seen.get(log, 0):
                with log.open("rb") as lines:
                    lines.seek(self.seen.get(log, 0))
                    new = lines.read()
                self.seen[log] = self.seen.get(log, 0) + len(new)
                found.update(line[:200] for line in _FAILURE.findall(new.decode(errors="replace")))
        return found
