"""Write numbers, lists and codes in English words, for staff, logs and prompts. Imports no Django."""

from __future__ import annotations

import re
from collections.abc import Sequence


def counted_noun(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 participant`, `12 participants`. `one` is the singular, `many` an
    irregular plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def and_list(parts: Sequence[str]) -> str:
    """Return the parts as a list in words: `a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def duration_text(seconds: float) -> str:
    """Return a rough duration: `less than a minute`, `about 12 minutes`, `about 5 hours`."""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    return (
        f"about "
        f"{counted_noun(minutes, 'minute') if minutes < 120 else counted_noun(round(minutes / 60), 'hour')}"
    )


def percent_text(share: float) -> str:
    """Return a share (0 to 1) as a percentage with two significant digits: `0.52%`, `33%`, `100%`."""
    return f"{100 * share:.2g}%" if share < 0.995 else "100%"


_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_JOINTS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])")


def code_to_words(code: str) -> str:
    """Return a code as words for use within a sentence: `red_lamp` and `redLamp` become `red lamp`, and
    `lamp2` becomes `lamp 2`. Other texts (`NASA`, `Anna`, or one with spaces) are returned unchanged."""
    is_code = _CODE.fullmatch(code) and _JOINTS.search(code)
    return _JOINTS.sub(" ", code).lower().strip() if is_code else code


def os_error_words(error: Exception) -> str:
    """Return the reason of an error about a file, for use after a colon: `no such file or directory`. The
    path is left out. Errors without such a reason are returned as they are."""
    reason = error.strerror if isinstance(error, OSError) else None
    return reason[:1].lower() + reason[1:] if reason else str(error)


def sentence_case(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
