"""Read a question whose answers follow it in square brackets, as in `How sure are you? [slider: no | yes]`.

Questions of pasted lists and probes are written this way. A name and a sign of equality can stand before the
question: `sure = How sure are you? [slider: no | yes]`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUESTION = re.compile(r"(?:([a-z][a-z0-9_]{0,29}) = )?(.+?)\s*\[\s*(\w+)\s*(\d{1,2})?\s*(?::(.*))?\]")


@dataclass(frozen=True, slots=True)
class BracketedQuestion:
    """A question and its answers as they were written: `kind` before the colon, `points` the number after it
    (None without one), `words` what stands between the lines `|`. `key` is empty without a name."""

    key: str
    text: str
    kind: str
    points: int | None
    words: tuple[str, ...]


def bracketed_question(line: str) -> BracketedQuestion | None:
    """Return the question of this line, or None if no answers in square brackets stand at its end."""
    match = _QUESTION.fullmatch(line)
    if match is None:
        return None
    key, text, kind, points, rest = match.groups()
    words = tuple(word for part in (rest or "").split("|") if (word := part.strip()))
    return BracketedQuestion(key or "", text, kind, int(points) if points else None, words)
