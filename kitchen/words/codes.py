"""Turn codes into words, where nobody has written better ones. Plain Python."""

from __future__ import annotations

import re

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_JOINTS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])")


def in_words(code: str) -> str:
    """Return a code as words within a sentence: `red_lamp`, `redLamp` and `lamp2` become `red lamp` and
    `lamp 2`. A text that is no code (`NASA`, `Anna`, or one with spaces) is returned as it is."""
    is_code = _CODE.fullmatch(code) and _JOINTS.search(code)
    return _JOINTS.sub(" ", code).lower().strip() if is_code else code


def sentence_case(text: str) -> str:
    """Return the text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
