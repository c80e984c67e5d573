"""Divide a language model's reply into passages: each is one list of commands, or one sentence with commands.

A passage knows its headings, and which sentences before it took back or replaced earlier commands. The
running time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kitchen.worlds.cuisine.dispatcher.command_extraction import VERB_PATTERN
from kitchen.worlds.cuisine.dispatcher.reply_phrases import (
    is_crossed_out,
    is_doubt,
    is_replacement,
    is_retraction,
    named_agents,
    plain_words,
    sentences,
)

MARK = "\ue000"
"""Replaces each command in the text that is searched for headings."""

MAX_HEADING_CHARACTERS = 90
"""Largest number of characters of a line that can be a heading; more if the line ends with a colon."""
MAX_ANNOUNCING_CHARACTERS = 240
MAX_SENTENCE_CHARACTERS = 400
"""Number of characters before and after a command within its sentence that are examined."""

_AGENT = r"(?:agent|robot)[ _]?\d{1,3}"
_LABEL = re.compile(
    rf"[\W_]*(?:(?P<label>[^\W_][^\n:=]{{0,80}})[:=]|{_AGENT})?[\W\d_]*",
    re.IGNORECASE,
)
_OF_AGENT = re.compile(rf"(?:for )?{_AGENT}\b|\d{{1,3}}\W*\Z", re.IGNORECASE)
_REMARK = re.compile(
    r"[\s*_`\"'.,;)\]}|\u3002\u2705\u2714\u2713]*(?:\Z|[(#{\[<|]|//|-{1,2}\s|[:\u2013\u2014\u2190\u2192]|[-=]+>"
    r"|(?:because|since|so|in order to|to|for|as|instead of|rather than)\b)",
    re.IGNORECASE,
)
_REFUSED_REMARK = re.compile(
    r"(?:(?:is|was|were|this|that|it|now|s|would be|has been) )*"
    r"(?:refused|rejected|wrong|invalid|illegal|impossible|not|draft|alternative|old|cancel\w*"
    r"|no longer|no|falsch|mal|faux|incorrect\w*|\u9519|\u4e0d)(?![a-z])"
)
_LATER_REMARK = re.compile(r"(?:(?:in|for|at) )?(?:the )?(?:next|later|following|previous|last|afterwards)\b")
_TAG = re.compile(r"</?[A-Za-z_]{1,20}|/?>")
_SECTION = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*[^*]+\*\*\s*:?\s*\Z|__[^_]+__\s*\Z|<[A-Za-z_ ]{1,30}>\s*\Z)")
_PASSED_OVER = re.compile(r"\s*(?:[`~]{3,}.*|\|.*|[^\w]*)\s*", re.DOTALL)
"""Fences, rows and rules of tables, blank lines: these do not count as lines."""
_QUOTED = re.compile(r"\s*(?:>|//|#(?!\s*\d)|[-*]\s*\[ ?\])")
"""The beginning of a line that quotes, is a comment of a program, or has an empty box."""
_BETWEEN = ("", "and")
"""Words that may be between the commands of a list."""
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)|\u3002")
_POINTS_BELOW = re.compile(r"\b(?:following|below|these|those)\b", re.IGNORECASE)
_ASKS_LEAVE = re.compile(
    r"\W*(?:shall|should|may|can|could|would|do you|is (?:this|that|it)|are (?:these|those)|soll|darf|debo"
    r"|puedo|dois)\b[^?]*\?",
    re.IGNORECASE,
)
_IN_SEQUENCE = re.compile(
    r"\b(?:then|next|after|later|and|dann|danach|luego|puis|ensuite|y|et|und)\b|\u7136\u540e"
)
_IN_CONTRAST = re.compile(
    r"\b(?:not|but|or|no|nor|instead|rather|better|wait|sondern|oder|nein|sino|o|mais|ou|non)\b|\u800c\u662f|\u6216"
)
_BESIDE = re.compile(r"->|=>|[/\u2192|]|\bor\b")
_SECOND_VERB = re.compile(
    rf"(?:\b(?:no|nope|wait|or|rather|instead|better|actually|sorry|correction|mean|meant|but|nein|besser|mejor|plut\u00f4t)\b"
    rf"|[/\u2192|]|->|=>)[^\n]{{0,20}}?(?<![A-Za-z]){VERB_PATTERN}(?![A-Za-z])",
    re.IGNORECASE,
)
_OR_ELSE = re.compile(r"\W{0,3}(?:or|oder|ou)\s+\w|\W{0,3}\u6216", re.IGNORECASE)
_NAMES = re.compile(r"[a-z]+\d*")
_ORDERED_COLUMNS = re.compile(r"\b(?:next|then|later|after|following|why|reason)\b", re.IGNORECASE)


class Passage(NamedTuple):
    """The text around one command, which shows what the command is meant for."""

    number: int
    is_list: bool
    words: str
    """Headings of a list, or the sentence around a command without the command."""
    epoch: int = 0
    """How many sentences before it replaced earlier commands."""
    is_refused: bool = False
    """Whether a mark or a remark beside the command rejects it."""
    is_quoted: bool = False
    goes_on: bool = False
    """Whether the words beside the command offer another place or verb for its agent."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """A sentence that takes back or replaces the commands before it."""

    epoch: int
    """It concerns passages of smaller epochs."""
    agents: frozenset[int]
    """The agents that it names; none if it concerns all."""
    is_firm: bool
    """Whether it also counts if no other commands follow."""
    names: frozenset[str] = frozenset()
    """The places and items that it concerns; none if it concerns all commands."""


@dataclass(slots=True)
class _Headings:
    """The headings over a line, from the farthest to the nearest."""

    section: str = ""
    above: str = ""
    label: str = ""
    columns: str = ""

    def spelled(self) -> str:
        """Return the nearest heading that says something, with the others before it."""
        return "\n".join(part for part in (self.section, self.above, self.label) if part)


@dataclass(slots=True)
class PassageReader:
    """Reads the lines of a text in order. `agents` are the agents of each mark. `names` are the words for
    the level's places and items."""

    agents: Sequence[frozenset[int]]
    names: frozenset[str] = frozenset()
    retractions: list[Retraction] = field(default_factory=list)
    _number: int = 0
    _epoch: int = 0
    _mark: int = 0
    _goes_on: bool = False
    _after_gap: bool = False
    _listed: set[int] = field(default_factory=set)
    """The agents of the list that goes on."""
    _under: _Headings = field(default_factory=_Headings)

    def read(self, text: str) -> Iterator[Passage]:
        """Yield a passage for each command in the text, in order. Each command must be replaced by MARK."""
        for line in text.splitlines():
            if MARK in line:
                yield from self._with_commands(line)
            else:
                self._without_commands(line)

    def _without_commands(self, line: str) -> None:
        """Read a line without commands. It may be a heading for the lines after it, and it may take back the
        lines before it."""
        if line.lstrip().startswith("|"):
            self._under.columns = line
        if _PASSED_OVER.fullmatch(line) and not _SECTION.match(line):
            self._after_gap = True
            return
        said = sentences(line)
        for sentence in said:
            self._retract(sentence, named_agents(sentence))
        self._goes_on, self._under.above, self._under.label = False, "", ""
        if _SECTION.match(line) and len(line) < MAX_HEADING_CHARACTERS:
            self._under.section = line.strip()
        elif said and (
            _is_heading(said[-1]) or _ASKS_LEAVE.match(said[-1]) or _POINTS_BELOW.search(said[-1])
        ):
            self._under.above = said[-1].strip()

    def _retract(self, sentence: str, agents: frozenset[int], *, soft: frozenset[int] = frozenset()) -> None:
        """Note it if the sentence takes back or replaces earlier commands. `soft` are the agents that a mere
        replacement concerns."""
        if is_retraction(sentence):
            self._epoch += 1
            self.retractions.append(Retraction(self._epoch, agents, is_firm=True))
        elif is_doubt(sentence):
            self._epoch += 1
            named = frozenset(_NAMES.findall(plain_words(sentence))) & self.names
            self.retractions.append(Retraction(self._epoch, agents, is_firm=True, names=named))
            if is_replacement(sentence):
                self.retractions.append(Retraction(self._epoch, agents or soft, is_firm=False))
        elif is_replacement(sentence):
            self._epoch += 1
            self.retractions.append(Retraction(self._epoch, agents or soft, is_firm=False))

    def _with_commands(self, line: str) -> Iterator[Passage]:
        parts = [_TAG.sub("", part) for part in line.split(MARK)]
        agents = self.agents[self._mark : self._mark + len(parts) - 1]
        self._mark += len(agents)
        for sentence in sentences(parts[0]):
            self._retract(sentence, named_agents(sentence), soft=frozenset().union(*agents))
        if _is_list(parts):
            yield from self._list(line, parts, agents)
        else:
            self._goes_on = False
            yield from self._sentences(line.split(MARK), agents)
        for sentence in sentences(parts[-1]):
            if is_retraction(sentence) or is_doubt(sentence):
                self._retract(sentence, named_agents(sentence))

    def _list(self, line: str, parts: list[str], agents: Sequence[frozenset[int]]) -> Iterator[Passage]:
        label, listed = _own_label(parts[0]), set[int]().union(*agents)
        begins_again = self._after_gap and bool(self._listed & listed)
        if label or begins_again or not self._goes_on:
            self._number, self._under.label = self._number + 1, label
            self._listed = set()
        self._goes_on, self._after_gap = True, False
        self._listed |= listed
        remark = plain_words(parts[-1])
        goes_on = self._has_second_verb(line, parts)
        refused = is_crossed_out(line) or bool(_REFUSED_REMARK.match(remark)) or goes_on
        later = bool(_LATER_REMARK.match(remark)) and len(remark.split()) < 5
        under = self._under.spelled()
        for place in range(len(agents)):
            if place and agents[place] & agents[place - 1] and _BESIDE.search(parts[place]):
                self._number += 1
            quoted = later or bool(_QUOTED.match(line))
            yield Passage(self._number, True, under, self._epoch, refused, quoted, goes_on)

    def _has_second_verb(self, line: str, parts: list[str]) -> bool:
        """Return whether a line goes on with another verb for its last agent, not as a later step."""
        if line.lstrip().startswith("|") and _ORDERED_COLUMNS.search(self._under.columns):
            return False
        return _goes_on_to_reject(parts[-1])

    def _sentences(self, parts: list[str], agents: Sequence[frozenset[int]]) -> Iterator[Passage]:
        self._number, self._under.above, self._under.label = self._number + 1, "", ""
        before_all = ""
        for place, (before, after) in enumerate(pairwise(parts)):
            ends = [each.end() for each in _SENTENCE_ENDS.finditer(before)]
            if ends:
                self._number += 1
                for sentence in sentences(before[ends[-1] :]) if place else ():
                    self._retract(sentence, agents[place] | named_agents(sentence))
            elif place and agents[place] & agents[place - 1] and _contradicts(before):
                self._number += 1
            before_all = (before[ends[-1] :] if ends else f"{before_all} {before}")[-MAX_SENTENCE_CHARACTERS:]
            end = re.search(r"[.!?](?=\s|\Z)|\u3002", after)
            rest = after[: end.end() if end else len(after)][:MAX_SENTENCE_CHARACTERS]
            words, goes_on = f"{before_all} {rest}", _goes_on_to_reject(rest)
            yield Passage(self._number, False, words, self._epoch, is_refused=goes_on, goes_on=goes_on)


def _goes_on_to_reject(after: str) -> bool:
    """Return whether the words after a command offer another place or verb for the same agent."""
    return bool(_SECOND_VERB.search(after) or _OR_ELSE.match(after))


def _contradicts(between: str) -> bool:
    """Return whether the words between two commands for one agent make a choice of them, not a sequence."""
    words = plain_words(between)
    return bool(_IN_CONTRAST.search(words) or _BESIDE.search(between)) or not _IN_SEQUENCE.search(words)


def _is_heading(line: str) -> bool:
    bare = line.strip().rstrip("*_` ")
    if bare.endswith(":"):
        return len(bare) < MAX_ANNOUNCING_CHARACTERS
    short = len(bare.split()) < 8 and (
        bare[-1:] not in ".!?\u3002" or bare.lower().startswith(("then", "next"))
    )
    return len(bare) < MAX_HEADING_CHARACTERS and short


def _is_list(parts: list[str]) -> bool:
    between = ("".join(filter(str.isalpha, part)).lower() for part in parts[1:-1])
    fits = bool(_LABEL.fullmatch(parts[0])) and all(letters in _BETWEEN for letters in between)
    return fits and bool(_REMARK.match(parts[-1]))


def _own_label(before: str) -> str:
    """Return the label in front of a list of commands. Return an empty text if there is none, or if it only
    names an agent or a number."""
    match = _LABEL.match(before)
    label = (match and match["label"]) or ""
    return "" if _OF_AGENT.match(label) else label.strip()
