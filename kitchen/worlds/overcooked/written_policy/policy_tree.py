"""Parse the decision tree of the agent `written_policy`, and find the lines that apply to a state.

A tree is a text in which each line is an act or a condition::

    deliver
    if pot soon and not partner holding dish:
        fill
        pickup dish
    else: put

The lines are tried from the first to the last. An act that is not possible now is skipped, so the next line
gets its turn. A condition with `if`, `elif` or `else` guards the act behind its colon, or the deeper lines
below it. `#` begins a comment. The idea of a policy that a model writes is that of Co-pi-tree (arXiv
2606.08596).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

MAX_LINES, MAX_DEPTH, MAX_CHARACTERS = 40, 6, 4000
"""Limits of a tree: lines that are neither empty nor comments, levels of conditions, and characters."""
IF, ELIF, ELSE = "if", "elif", "else"
UNDECIDED = 0
"""The number that takes the place of a line's number if no line decides."""


class PolicyTreeError(ValueError):
    """Raised for a text that is no tree. The message is one line, which names the line of the text."""


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a condition: a fact that must hold, or must not hold."""

    fact: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """One line of a tree. An act has no `keyword`; a condition has an act or deeper lines."""

    number: int
    """The number of the line in the text, from 1."""
    text: str
    keyword: str = ""
    terms: tuple[Term, ...] = ()
    act: str = ""
    block: tuple[PolicyLine, ...] = ()


@dataclass(frozen=True, slots=True)
class PolicyVocabulary:
    """The names that a tree may use."""

    facts: Collection[str]
    acts: Collection[str]


@dataclass(frozen=True, slots=True)
class PolicyTree:
    """A decision tree."""

    lines: tuple[PolicyLine, ...]

    def acts(self, holds: Callable[[str], bool]) -> Iterator[tuple[PolicyLine, str]]:
        """Yield (line, act) for each act that applies, in order. `holds` tells whether a fact holds now."""
        return _acts(self.lines, holds)


def _acts(block: Sequence[PolicyLine], holds: Callable[[str], bool]) -> Iterator[tuple[PolicyLine, str]]:
    is_taken = False
    for line in block:
        if line.keyword in (ELIF, ELSE) and is_taken:
            continue
        applies = all(holds(term.fact) == term.holds for term in line.terms)
        if line.keyword:
            is_taken = applies
        if applies and line.act:
            yield line, line.act
        elif applies:
            yield from _acts(line.block, holds)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the text that is neither empty nor a comment."""

    number: int
    indent: int
    text: str

    def error(self, why: str) -> PolicyTreeError:
        return PolicyTreeError(f"line {self.number}: {why}")


def parse_policy_tree(text: str, vocabulary: PolicyVocabulary) -> PolicyTree:
    """Return the tree that a text describes. Raises PolicyTreeError for the first mistake."""
    if len(text) > MAX_CHARACTERS:
        raise PolicyTreeError(f"the tree has {len(text)} characters, more than {MAX_CHARACTERS}")
    rows = list(_rows(text))
    if not rows:
        raise PolicyTreeError("the tree has no line")
    if len(rows) > MAX_LINES:
        raise rows[MAX_LINES].error(f"the tree has more than {MAX_LINES} lines")
    if rows[0].indent:
        raise rows[0].error("the first line is indented")
    return PolicyTree(_Parser(rows, vocabulary).block(0, 0))


def _rows(text: str) -> Iterator[_Row]:
    for number, line in enumerate(text.splitlines(), 1):
        content = line.split("#", 1)[0].rstrip()
        if content:
            bare = content.lstrip(" ")
            row = _Row(number, len(content) - len(bare), " ".join(bare.lower().split()))
            if bare[0].isspace():
                raise row.error("indent with spaces only")
            yield row


class _Parser:
    """Reads the rows of a tree one after the other."""

    def __init__(self, rows: Sequence[_Row], vocabulary: PolicyVocabulary) -> None:
        self.rows, self.vocabulary, self.place = rows, vocabulary, 0

    def block(self, indent: int, depth: int) -> tuple[PolicyLine, ...]:
        """Return the lines with this indentation, up to a line that is less indented."""
        found = list[PolicyLine]()
        while self.place < len(self.rows) and self.rows[self.place].indent >= indent:
            row = self.rows[self.place]
            if row.indent > indent:
                raise row.error("this indentation fits no line above")
            self.place += 1
            found.append(self._line(row, found[-1].keyword if found else "", depth))
        return tuple(found)

    def _line(self, row: _Row, before: str, depth: int) -> PolicyLine:
        """Return the line of a row. `before` is the keyword of the line before it in its block."""
        keyword = row.text.split(" ", 1)[0].rstrip(":")
        if keyword not in (IF, ELIF, ELSE):
            return PolicyLine(row.number, row.text, act=self._act(row, row.text))
        if keyword != IF and before not in (IF, ELIF):
            raise row.error(f"{keyword} has no if before it")
        condition, colon, act = row.text.removeprefix(keyword).partition(":")
        if not colon:
            raise row.error("a colon is missing after the condition")
        terms = self._terms(row, keyword, condition.strip())
        if act.strip():
            return PolicyLine(row.number, row.text, keyword, terms, act=self._act(row, act.strip()))
        return PolicyLine(row.number, row.text, keyword, terms, block=self._deeper(row, depth + 1))

    def _deeper(self, row: _Row, depth: int) -> tuple[PolicyLine, ...]:
        after = self.rows[self.place] if self.place < len(self.rows) else None
        if after is None or after.indent <= row.indent:
            raise row.error("an act is missing after the colon, or indented lines below it")
        if depth > MAX_DEPTH:
            raise row.error(f"conditions are nested more than {MAX_DEPTH} deep")
        return self.block(after.indent, depth)

    def _terms(self, row: _Row, keyword: str, condition: str) -> tuple[Term, ...]:
        if keyword == ELSE:
            if condition:
                raise row.error("else has no condition; write elif")
            return ()
        return tuple(self._term(row, part.strip()) for part in condition.split(" and "))

    def _term(self, row: _Row, text: str) -> Term:
        fact = text.removeprefix("not ").strip()
        if fact not in self.vocabulary.facts:
            told = _unknown(fact, "fact", self.vocabulary.facts)
            raise row.error(told if fact else "a fact is missing")
        return Term(fact, holds=fact == text)

    def _act(self, row: _Row, text: str) -> str:
        if text not in self.vocabulary.acts:
            raise row.error(_unknown(text, "act", self.vocabulary.acts))
        return text


def _unknown(name: str, what: str, known: Collection[str]) -> str:
    """Return that a name is unknown, with the most similar known ones, or with all of them."""
    similar = get_close_matches(name, known, n=2)
    return f"{name!r} is no {what}; " + (
        f"did you mean {' or '.join(similar)}?" if similar else f"there are {', '.join(known)}"
    )
