"""What the words above or around commands say about them: given now, or for another step, or not at all.

A model that thinks aloud lists what it rejects, what comes later, and other ways, before or after what it
gives. What was asked for are commands for this step.
"""

from __future__ import annotations

import re

NOT_NOW, PLAIN, ASKED, FINAL = range(4)
"""From what is meant least to what is meant most."""

_FINAL = re.compile(
    r"\b(?:final|corrected|corrections?|revised|updated|chosen|decision|answer)\b", re.IGNORECASE
)
_ASKED = re.compile(r"\bcommands?\b|\bactions?\b|\b(?:this|current|present) (?:step|turn|round)\b|\bnow\b")
_OTHER_STEP = re.compile(
    r"\b(?:next|following|previous|last|earlier|later|future|coming|subsequent) (?:\w+ )?"
    r"(?:step|turn|round|time)s?\b|\b(?:steps?|turns?|rounds?) (?:after|later|ahead|before)\b"
    r"|\b(?:afterwards?|later|after that|upcoming)\b|\A(?:next|then|previous|previously|before)\Z"
)
_REJECTED = re.compile(
    r"\b(?:refused|rejected|invalid|illegal|impossible|not possible|fail(?:s|ed)|apologi[sz]e|sorry|mistake"
    r"|wrong|draft|alternativ\w*|instead of|rather than|examples?|would have|could have|cannot|can t|do not"
    r"|don t|avoid)\b"
)
_OTHER_WAY = re.compile(
    r"\b(?:option|plan|variant|choice|list|version) (?:number )?(?:[b-h]|[2-9]|two|three|four)\b"
)
_STEP = re.compile(r"\b(?:step|turn|round) ?(?:number )?(\d{1,4})\b")
_CHOSEN = re.compile(
    r"\b(?:choos\w+|chose|pick|go(?:ing)? with|prefer|select|take|use|decide (?:on|for)) (?:the )?"
    r"((?:option|plan|variant|alternative|version) ?[a-z0-9])\b"
)


def chosen_way(text: str) -> str:
    """`option b`, where the text says that this is taken; empty where it says nothing of the kind."""
    found: list[str] = _CHOSEN.findall(_spaced(text))
    return found[-1] if found else ""


def meaning(heading: str, step: int | None, way: str = "") -> int:
    """How much is meant what stands under these words. `step` is the one that is asked for, from 1; `way` is
    what `chosen_way` has found."""
    words = _spaced(heading)
    if way and way in words:
        return FINAL
    if "?" in heading or _REJECTED.search(words) or _OTHER_WAY.search(words):
        return NOT_NOW
    numbers = [int(number) for number in _STEP.findall(words)]
    if step in numbers:
        return ASKED
    if numbers or _OTHER_STEP.search(words):
        return NOT_NOW
    return FINAL if _FINAL.search(words) else ASKED if _ASKED.search(words) else PLAIN


def _spaced(words: str) -> str:
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words)).strip().lower()
