"""Words of a study that are not shown in messages. Plain Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

INSTEAD = "***"


def filtered(text: str, blocked: Sequence[str]) -> str:
    """The text with `INSTEAD` for each of these words or phrases, however they are capitalised and spaced."""
    return _pattern(tuple(blocked)).sub(INSTEAD, text) if any(one.strip() for one in blocked) else text


@lru_cache(maxsize=64)
def _pattern(blocked: tuple[str, ...]) -> re.Pattern[str]:
    words = sorted((one.split() for one in blocked if one.strip()), key=lambda one: -len("".join(one)))
    return re.compile("|".join(_alone(r"\s+".join(map(re.escape, one))) for one in words), re.IGNORECASE)


def _alone(pattern: str) -> str:
    """As a whole word; in scripts that put no spaces between words, wherever it stands."""
    return pattern if re.search(r"[\u2e80-\u9fff\uac00-\ud7af]", pattern) else rf"(?<!\w){pattern}(?!\w)"
