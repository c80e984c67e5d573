"""Which of a text's commands are meant: what a model says last, and lists rather than prose.

Models quote and weigh commands before they give some: "I apologize for put_agent1_pot0, which was refused".
So lines that hold nothing but commands (bullets, numbers and a label such as `Commands:` apart) go before
prose; and of several passages, a run of such lines or a sentence, the later one goes before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

Span = tuple[int, int]
"""Where a command stands in the text: begin and end."""

Rank = tuple[bool, int]
"""Whether a passage is a list, and its number in the text: the greatest rank is what is meant."""

_LABEL = re.compile(r"[\W_]*(?:(?P<label>[^\W_][\w ]{0,30})[*_`\"']{0,3}[:=])?[\W\d_]*", re.ASCII)
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)")
_BETWEEN = ("", "and")
"""Letters that may stand between the commands of a list."""


def ranks(text: str, spans: Sequence[Span]) -> Iterator[Rank]:
    """The passage of each command, in order. `spans` are in order and do not overlap. Linear in the text."""
    passage, was_list, at, rest = 0, False, 0, list(reversed(spans))
    for line in text.splitlines(keepends=True):
        at += len(line)
        inside: list[Span] = []
        while rest and rest[-1][0] < at:
            inside.append(rest.pop())
        parts = _parts(text, inside, at - len(line), at)
        is_list = bool(inside) and _is_list(parts)
        if line.strip() and not (is_list and was_list and not _has_new_label(parts[0])):
            passage += 1
        was_list = is_list or (was_list and not line.strip())
        for before in parts[:-1]:
            passage += not is_list and bool(_SENTENCE_ENDS.search(before))
            yield is_list, passage


def _parts(text: str, inside: Sequence[Span], begin: int, end: int) -> list[str]:
    """What stands before, between and after the commands of one line."""
    edges = [begin, *(edge for span in inside for edge in span), end]
    return [text[edges[n] : edges[n + 1]] for n in range(0, len(edges), 2)]


def _is_list(parts: Sequence[str]) -> bool:
    between = ("".join(filter(str.isalpha, part)).lower() for part in parts[1:])
    return bool(_LABEL.fullmatch(parts[0])) and all(letters in _BETWEEN for letters in between)


def _has_new_label(before: str) -> bool:
    """A label other than an agent's or a number begins a list of its own."""
    match = _LABEL.match(before)
    label = (match and match["label"]) or ""
    return bool(label) and not any(letter.isdigit() for letter in label)
