"""Which commands of a text stand together, and the words above or around them.

Lines that hold nothing but commands (bullets, numbers, a label such as `Commands:` and a remark behind them
apart) are a list, and so are lines that follow each other; other commands stand in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

MARK = "\ue000"
"""Stands for each command in the text that is looked at."""

LONGEST = 90
"""Characters of a line that can be a heading."""

_AGENT = r"(?:agent|robot)[ _]?\d{1,3}"
_LABEL = re.compile(
    rf"[\W_]*(?:(?P<label>[^\W_][\w ',()#/-]{{0,60}})[*_`\"']{{0,3}}[:=]|{_AGENT})?[\W\d_]*",
    re.ASCII | re.IGNORECASE,
)
_OF_AGENT = re.compile(rf"(?:for )?{_AGENT}\b|\d{{1,3}}\W*\Z", re.IGNORECASE)
_REMARK = re.compile(
    r"[\s*_`\"'.,;)\]}|]*(?:\Z|[(#{\[<|]|//|-{1,2}\s|[:\u2013\u2014\u2190\u2192]|[-=]+>"
    r"|(?:because|since|so|in order to|to|for|as)\b)",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z_]{1,20}|/?>")
_SECTION = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*[^*]+\*\*\s*:?\s*\Z|__[^_]+__\s*\Z|<[A-Za-z_ ]{1,30}>\s*\Z)")
_PASSED_OVER = re.compile(r"\s*(?:[`~]{3,}.*|\|.*|[^A-Za-z0-9]*)\s*", re.DOTALL)
"""Fences, rows and rules of tables, blank lines: what is no line of its own."""
_BETWEEN = ("", "and")
"""Letters that may stand between the commands of a list."""
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)")


class Passage(NamedTuple):
    """Where one command stands."""

    number: int
    is_list: bool
    words: str
    """Headings of a list, the sentence of a command that stands in one."""


class _Reader:
    """Goes through the lines of a text."""

    def __init__(self) -> None:
        self.number, self.goes_on = 0, False
        self.section = self.above = self.label = ""

    def without(self, line: str) -> None:
        """A line without commands."""
        if _PASSED_OVER.fullmatch(line) and not _SECTION.match(line):
            return
        self.goes_on, self.above, self.label = False, "", ""
        if _SECTION.match(line) and len(line) < LONGEST:
            self.section = line.strip()
        elif _is_heading(line):
            self.above = line.strip()

    def with_commands(self, line: str) -> Iterator[Passage]:
        """A passage for each command of a line."""
        parts = [_TAG.sub("", part) for part in line.split(MARK)]
        if not _is_list(parts):
            self.goes_on = False
            yield from self._sentences(line.split(MARK))
            return
        label = _own_label(parts[0])
        if label or not self.goes_on:
            self.number, self.label = self.number + 1, label
        self.goes_on = True
        words = " / ".join((self.section, self.above, self.label, parts[-1].strip()))
        for _ in parts[:-1]:
            yield Passage(self.number, True, words)

    def _sentences(self, parts: list[str]) -> Iterator[Passage]:
        self.number, self.above, self.label = self.number + 1, "", ""
        for before, after in pairwise(parts):
            self.number += bool(_SENTENCE_ENDS.search(before))
            begin = [each.end() for each in _SENTENCE_ENDS.finditer(before)][-1:] or [0]
            end = re.search(r"[.!?](?=\s|\Z)", after)
            yield Passage(self.number, False, before[begin[0] :] + after[: end.end() if end else len(after)])


def passages(text: str) -> Iterator[Passage]:
    """The passage of each mark of a text, in order. Linear in the text."""
    reader = _Reader()
    for line in text.splitlines():
        if MARK in line:
            yield from reader.with_commands(line)
        else:
            reader.without(line)


def _is_heading(line: str) -> bool:
    bare = line.strip().rstrip("*_` ")
    return len(bare) < LONGEST and (bare.endswith(":") or (len(bare.split()) < 8 and bare[-1:] not in ".!?"))


def _is_list(parts: list[str]) -> bool:
    between = ("".join(filter(str.isalpha, part)).lower() for part in parts[1:-1])
    fits = bool(_LABEL.fullmatch(parts[0])) and all(letters in _BETWEEN for letters in between)
    return fits and bool(_REMARK.match(parts[-1]))


def _own_label(before: str) -> str:
    """A label other than an agent's or a number begins a list of its own."""
    match = _LABEL.match(before)
    label = (match and match["label"]) or ""
    return "" if _OF_AGENT.match(label) else label.strip()
