"""Quote people's messages in prompts, and check the lines that a language model writes to people.

A quoted message stands on one line, in quotation marks, so that a model treats it as data. Imports no Django.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

MAX_LINE_CHARACTERS = 300
"""Largest number of characters of a model's line to people in a step."""
MAX_COPIED_CHARACTERS = 60
"""A line that repeats so many characters of the instructions in a row is not sent."""


_CHAT_MARKS = re.compile(
    r"[<\[](?=[|\uff5c]|/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]|</?SYS>>"
    r"|/?(?:s|bos|eos|pad|unk|system|user|assistant|think|thinking|(?:start|end)_of_turn|tool_calls?|tool_response)>)",
    re.IGNORECASE,
)
"""The beginning of a mark by which chat templates tell roles and turns apart."""
_PLAIN_BRACKETS = {"<": "\u2039", "[": "("}


def without_chat_marks(text: str) -> str:
    """Return the text in which marks of chat templates, such as `<|im_start|>` or `[INST]`, begin with
    another sign. Some servers would read them as the beginning of a new turn."""
    return _CHAT_MARKS.sub(lambda found: _PLAIN_BRACKETS[found[0]], text)


def quote_text(text: str) -> str:
    """Return the text in quotation marks, on one line. Unprintable characters become spaces, and marks of
    chat templates are changed (`without_chat_marks`)."""
    quoted = json.dumps(without_chat_marks(text), ensure_ascii=False)
    return "".join(c if c.isprintable() else " " for c in quoted)


def clip_line(text: str) -> str:
    """Return the text on one line, without quotation marks around it, cut to `MAX_LINE_CHARACTERS`."""
    return shorten(" ".join(text.split()).strip("\"'` "), MAX_LINE_CHARACTERS)


def shorten(text: str, most: int) -> str:
    """Return the text cut to at most `most` characters. A cut text ends with an ellipsis."""
    return text if len(text) <= most else f"{text[:most].rstrip()}…"


def repeats_prompt(line: str, fixed_texts: Sequence[str]) -> bool:
    """Return whether the line copies a passage of one of these texts: `MAX_COPIED_CHARACTERS` letters and
    digits in a row."""
    known, plain = [plain_letters(text) for text in fixed_texts], plain_letters(line)
    starts = range(len(plain) - MAX_COPIED_CHARACTERS + 1)
    return any(plain[start : start + MAX_COPIED_CHARACTERS] in text for start in starts for text in known)


def plain_letters(text: str) -> str:
    """Return only the letters and digits of the text, in lower case. Texts that differ in spaces and
    punctuation are then equal."""
    return re.sub(r"[\W_]+", "", text.lower())
