"""Extract the commands that a model reply intends for this step (paper, section 4.1, Action Extraction).

Models quote and weigh commands before they choose, and mention later steps. So commands are preferred in this
order: those in the list under the requested heading, those in the first list that commands all agents, those
in sentences. Commands for another step, rejected ones and alternatives are used only if nothing else was
found. A command with an unknown verb is used only for an agent that has no other command. Text in a `<think>`
block or struck out is ignored. The time is linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.command_extraction import (
    TAKEN_MARK,
    FoundText,
    ListedCommand,
    Span,
    commands_in_json,
    commands_in_tables,
    commands_on_own_lines,
    find_commands,
    json_values,
    mark_taken,
)
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import GivenCommand
from kitchen.worlds.cuisine.dispatcher.phrase_parser import LevelNames

NOT_NOW, PLAIN, ASKED, FINAL = range(4)
"""Levels of intention, from the weakest to the strongest."""

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


def chosen_option(text: str) -> str:
    """Return the option that the text says it chooses, such as `option b`; empty if there is none."""
    found: list[str] = _CHOSEN.findall(_spaced(text))
    return found[-1] if found else ""


def heading_rank(heading: str, step: int | None, way: str = "") -> int:
    """Return how strongly commands under this heading are intended, for this step and chosen option."""
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


@dataclass(frozen=True, slots=True)
class RequestedCommands:
    """The request to the model: a command for each of these seats, for this step (from 1)."""

    seats: Sequence[int] = ()
    step: int | None = None


ANY_COMMANDS = RequestedCommands()


@dataclass(frozen=True, slots=True)
class ExtractedCommands:
    """The commands that were read from an answer."""

    given: tuple[GivenCommand, ...] = ()
    """Commands in their order; a passage may command an agent several times."""
    unclear: Mapping[int, tuple[Command, ...]] = field(default_factory=dict)
    """Agents with different commands in several passages, with the first command of each passage."""


PassageId = tuple[int, str, int]


class FoundCommand(NamedTuple):
    """A command, its passage, and how strongly it is intended (`heading_rank`)."""

    given: GivenCommand
    passage: PassageId
    is_list: bool
    meant: int


class _Offer(NamedTuple):
    """The first command of one passage for one agent."""

    rank: tuple[bool, int, bool]
    """No list, weakness of intention, no commands for all requested agents: a smaller rank is stronger."""
    command: Command
    passage: PassageId


def choose_commands(found: Sequence[FoundCommand], seats: Sequence[int]) -> ExtractedCommands:
    """Return the intended commands of all that were found, for these seats, in order."""
    meant_now = [each for each in found if each.meant > NOT_NOW] or found
    commanded = {each.given[0] for each in meant_now if each.given[1][0] in VERBS}
    real = [each for each in meant_now if each.given[1][0] in VERBS or each.given[0] not in commanded]
    meant: dict[int, PassageId] = {}
    unclear: dict[int, tuple[Command, ...]] = {}
    for seat, offers in _offers(real, seats).items():
        first = min(offers, key=lambda offer: offer.rank)
        ways = tuple(dict.fromkeys(each.command for each in offers if each.rank == first.rank))
        meant[seat] = first.passage
        if len(ways) > 1 and first.rank[2] and seat in seats:
            unclear[seat] = ways
    kept = (each.given for each in real if each.passage == meant[each.given[0]])
    return ExtractedCommands(tuple(each for each in kept if each[0] not in unclear), unclear)


def _offers(found: Sequence[FoundCommand], seats: Sequence[int]) -> Mapping[int, list[_Offer]]:
    """Return the first command of each passage, by seat, in order."""
    passages: dict[PassageId, list[FoundCommand]] = {}
    for each in found:
        passages.setdefault(each.passage, []).append(each)
    offers: dict[int, list[_Offer]] = {}
    for passage, said in passages.items():
        commands = dict(reversed([each.given for each in said]))
        rank = (not said[0].is_list, -said[0].meant, not commands.keys() >= set(seats))
        for seat, command in commands.items():
            offers.setdefault(seat, []).append(_Offer(rank, command, passage))
    return offers


MARK = "\ue000"
"""Replaces each command in the text that is searched for headings."""

MAX_HEADING_CHARACTERS = 90
"""Largest number of characters of a line that can be a heading."""

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
"""Fences, rows and rules of tables, blank lines: these do not count as lines."""
_BETWEEN = ("", "and")
"""Words that may be between the commands of a list."""
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)")


class Passage(NamedTuple):
    """The context of one command."""

    number: int
    is_list: bool
    words: str
    """Headings of a list, or the sentence around a command."""


class _Reader:
    """Read the lines of a text in order."""

    def __init__(self) -> None:
        self.number, self.goes_on = 0, False
        self.section = self.above = self.label = ""

    def without(self, line: str) -> None:
        """Read a line without commands."""
        if _PASSED_OVER.fullmatch(line) and not _SECTION.match(line):
            return
        self.goes_on, self.above, self.label = False, "", ""
        if _SECTION.match(line) and len(line) < MAX_HEADING_CHARACTERS:
            self.section = line.strip()
        elif _is_heading(line):
            self.above = line.strip()

    def with_commands(self, line: str) -> Iterator[Passage]:
        """Yield a passage for each command of a line."""
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


def find_passages(text: str) -> Iterator[Passage]:
    """Yield the passage of each mark of a text, in order. Linear in the text."""
    reader = _Reader()
    for line in text.splitlines():
        if MARK in line:
            yield from reader.with_commands(line)
        else:
            reader.without(line)


def _is_heading(line: str) -> bool:
    bare = line.strip().rstrip("*_` ")
    return len(bare) < MAX_HEADING_CHARACTERS and (
        bare.endswith(":") or (len(bare.split()) < 8 and bare[-1:] not in ".!?")
    )


def _is_list(parts: list[str]) -> bool:
    between = ("".join(filter(str.isalpha, part)).lower() for part in parts[1:-1])
    fits = bool(_LABEL.fullmatch(parts[0])) and all(letters in _BETWEEN for letters in between)
    return fits and bool(_REMARK.match(parts[-1]))


def _own_label(before: str) -> str:
    """Return the label that begins a list of its own; empty for an agent's name or a number."""
    match = _LABEL.match(before)
    label = (match and match["label"]) or ""
    return "" if _OF_AGENT.match(label) else label.strip()


_THOUGHTS_BEGIN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_PLAINLY = str.maketrans(
    "\uff1a\uff0c\uff1b\uff08\uff09\uff1d\u2010\u2011\u2019\u00a0\u3000\u201c\u201d", ':,;()=--\'  ""'
)
"""Full-width and typographic characters, mapped to plain ones."""
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,200}~~")


def extract_commands(
    text: str, names: LevelNames, requested: RequestedCommands = ANY_COMMANDS
) -> ExtractedCommands:
    """Return the intended commands in the text (`choose_commands`), in order. Never raises."""
    said = _without_thoughts(text)
    finds, way = _finds(said, names, requested.seats), chosen_option(said)
    found: list[FoundCommand] = []
    for passage, (_, listed) in zip(find_passages(_marked(said, finds)), finds, strict=True):
        for heading, given in listed:
            meant = heading_rank(f"{passage.words} / {heading}", requested.step, way)
            found.append(FoundCommand(given, (passage.number, heading, meant), passage.is_list, meant))
    return choose_commands(found, requested.seats)


def extract_from_call(
    call: Mapping[str, Json], names: LevelNames, requested: RequestedCommands = ANY_COMMANDS
) -> ExtractedCommands:
    """Return the intended commands of a structured reply. Never raises.

    A provider may not keep to the schema. So spelled commands are read too, and anything else is ignored.
    """
    found: list[FoundCommand] = []
    for heading, given in commands_in_json(call, names):
        meant = heading_rank(heading, requested.step)
        found.append(FoundCommand(given, (0, heading, meant), is_list=True, meant=meant))
    return choose_commands(found, requested.seats)


def _without_thoughts(text: str) -> str:
    """Return the text without thoughts (also cut-off ones), with markdown's escapes undone."""
    after = _THOUGHTS_END.split(text)[-1]
    said = _THOUGHTS_BEGIN.split(after)[0].replace("\\_", "_").translate(_PLAINLY)
    return _STRUCK_OUT.sub(" ", said).replace(MARK, " ").replace(TAKEN_MARK, " ")


def _finds(said: str, names: LevelNames, seats: Sequence[int]) -> list[tuple[Span, Sequence[ListedCommand]]]:
    """Return all commands with their positions, in order; those of one JSON value share one position.

    If only one agent is requested, its name may be left out.
    """
    held = list(json_values(said, names))
    rest = mark_taken(said, [each.span for each in held])
    spelled: list[FoundText] = []
    for reader in (commands_in_tables, find_commands):
        new = list(reader(rest, names))
        rest = mark_taken(rest, [each.span for each in new])
        spelled += new
    finds: list[tuple[Span, Sequence[ListedCommand]]] = [
        (each.span, each.listed) for each in held if each.listed
    ]
    if not finds and not spelled and len(seats) == 1:
        spelled = commands_on_own_lines(seats[0], rest, names)
    finds += [(each.span, (ListedCommand("", each.given),)) for each in spelled]
    return sorted(finds, key=lambda each: each[0])


def _marked(said: str, finds: Iterable[tuple[Span, Sequence[ListedCommand]]]) -> str:
    parts, at = [], 0
    for (begin, end), _ in finds:
        parts += [said[at:begin], MARK]
        at = end
    return "".join([*parts, said[at:]])
