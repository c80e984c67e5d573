"""Choose the commands that a language model's reply intends for this step.

A reply may discuss several commands before it chooses, and may mention later steps. Commands in lists take
precedence over commands in sentences. Lists are preferred in this order:

1. A list under a heading such as `Final commands`.
2. A list under a heading that names this step, or says `Commands`.
3. Of lists with equal headings, the list that has a command for every requested agent.

Commands for another step, rejected commands and alternatives are used only if nothing else was found. Text in
a `<think>` block and struck-out text are ignored. Source: MindAgent, section 4.1, Action Extraction.
"""

# In JSON, an object with an agent and a verb is a command. So is a value under the name of an agent, and a
# string that contains a command. Any other key is treated as the heading of the values under it. Strings
# under keys such as `plan` and `reasoning` are ignored. A command with an unknown verb is used only for an
# agent that has no other command. The time is linear in the length of the text.

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.command_extraction import (
    TAKEN_MARK,
    GivenCommand,
    LevelNames,
    Span,
    command_from_roles,
    commands_in_text,
    find_commands,
    key_role,
    parse_phrase,
    plain_name,
    seat_named,
)

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
    """Return the option that a reply says it chooses, such as `option b`; empty if no option is named."""
    found: list[str] = _CHOSEN.findall(_spaced(text))
    return found[-1] if found else ""


def heading_rank(heading: str, step: int | None, way: str = "") -> int:
    """Return how likely it is that commands under this heading are meant for the current step: NOT_NOW,
    PLAIN, ASKED or FINAL.

    `step` is the current step. `way` is the option that the reply chooses (`chosen_option`); its heading
    gives FINAL.
    """
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
    """The seats for which the model had to give commands, and the number of the step, counted from 1. The
    number is None if unknown."""

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
    """A command, the passage in which it was found, and how strongly it is intended (`heading_rank`)."""

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
    """Return the commands that the model intends for these seats, in order. `found` are all commands in its
    reply.

    A seat is `unclear` if equally likely passages give it different commands.
    """
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
    """Return, for each seat, its first command in each passage of the model's reply."""
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
    """The text around one command, which shows what the command is meant for."""

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
        """Process a line without commands. It may be a heading for the lines after it."""
        if _PASSED_OVER.fullmatch(line) and not _SECTION.match(line):
            return
        self.goes_on, self.above, self.label = False, "", ""
        if _SECTION.match(line) and len(line) < MAX_HEADING_CHARACTERS:
            self.section = line.strip()
        elif _is_heading(line):
            self.above = line.strip()

    def with_commands(self, line: str) -> Iterator[Passage]:
        """Yield a passage (the context of a command) for each command in a line."""
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
    """Yield a passage (the context of a command) for each command in the text, in order.

    Each command in the text must already be replaced by MARK. The running time is linear in the length of the
    text.
    """
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
    """Return the label in front of a list of commands. Return an empty text if there is none, or if it only
    names an agent or a number."""
    match = _LABEL.match(before)
    label = (match and match["label"]) or ""
    return "" if _OF_AGENT.match(label) else label.strip()


MAX_JSON_STARTS = 64
"""Number of brackets in a text at which reading JSON may fail; later brackets are not tried."""
_BRACKET = re.compile(r"[{\[]")
MAX_JSON_DEPTH = 12
_WORDS = (
    *("plan", "reason", "thought", "think", "analys", "explan", "comment", "note", "feedback", "state"),
    *("say", "said", "tell", "messag", "speech"),
)
_WITHIN = ("arguments", "args", "input", "parameters", "params", "function", "properties")
"""Keys that say nothing about their values."""


class ListedCommand(NamedTuple):
    """A command in a JSON value. Its heading consists of the keys that lead to the command."""

    heading: str
    given: GivenCommand


Find = tuple[Span, Sequence[ListedCommand]]
"""A range in a text, and its commands; those of one JSON value share one range."""


def json_values(text: str, names: LevelNames) -> Iterator[Find]:
    """Yield each JSON object or list in a text as (range, commands), in order. The commands may be empty."""
    decoder, at, tries = json.JSONDecoder(), 0, MAX_JSON_STARTS
    while tries and (bracket := _BRACKET.search(text, at)):
        try:
            value, at = decoder.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            at, tries = bracket.end(), tries - 1
            continue
        if value:
            yield (bracket.start(), at), tuple(commands_in_json(value, names))


def commands_in_json(
    value: Json, names: LevelNames, heading: str = "", seat: int | None = None, deep: int = 0
) -> Iterator[ListedCommand]:
    """Yield all commands in a JSON value, in order. Never raises.

    `heading` has the keys above the value. `seat` is the agent that these keys name; None if they name none.
    `deep` is the level of nesting.
    """
    if deep > MAX_JSON_DEPTH:
        return
    if isinstance(value, Mapping):
        yield from _of_object(value, names, heading, seat, deep)
    elif isinstance(value, list | tuple):
        yield from _of_list(value, names, heading, seat, deep)
    elif isinstance(value, str):
        yield from (ListedCommand(heading, each) for each in _of_text(value, names, heading, seat))


def _of_object(
    value: Mapping[str, Json], names: LevelNames, heading: str, seat: int | None, deep: int
) -> Iterator[ListedCommand]:
    given = _entry(value, names, seat) or _by_verb(value, names, seat)
    if given:
        yield ListedCommand(heading, given)
        return
    for key, inner in ((str(key), inner) for key, inner in value.items()):
        named = seat_named(key) if key.strip()[:1].isalpha() else None  # a bare number names no seat
        says_nothing = named is not None or plain_name(key) in _WITHIN
        under = heading if says_nothing else f"{heading} {key}".strip()
        yield from commands_in_json(inner, names, under, seat if named is None else named, deep + 1)


def _of_list(
    value: Iterable[Json], names: LevelNames, heading: str, seat: int | None, deep: int
) -> Iterator[ListedCommand]:
    parts = list(value)
    words = [part for part in parts if isinstance(part, str)]
    whole = _of_words(words, names, seat) if 0 < len(words) == len(parts) else None
    if whole:
        yield ListedCommand(heading, whole)
        return
    for part in parts:
        yield from commands_in_json(part, names, heading, seat, deep + 1)


def _of_words(words: list[str], names: LevelNames, seat: int | None) -> GivenCommand | None:
    """Return the command that is written as a list of words, such as `["goto", "agent1", "pot0"]`. Return
    None if the list is no command."""
    if plain_name(words[0]) not in VERBS:
        return None
    if seat is not None:
        return parse_phrase(seat, " ".join(word for word in words if seat_named(word) is None), names)
    found = find_commands(" ".join(words), names)
    return found[0].given if len(found) == 1 else None


def _of_text(text: str, names: LevelNames, heading: str, seat: int | None) -> list[GivenCommand]:
    if text.lstrip()[:1] in ("{", "["):
        within = [each.given for _, listed in json_values(text, names) for each in listed]
        if within:
            return within
    last = heading.rpartition(" ")[2].lower()
    if seat is None and any(word in last for word in _WORDS):
        return []
    spelled = [each.given for each in find_commands(text, names)]
    alone = None if spelled or seat is None else parse_phrase(seat, text, names)
    return [alone] if alone else spelled


def _entry(value: Mapping[str, Json], names: LevelNames, seat: int | None) -> GivenCommand | None:
    """Return the command that a JSON object describes. If parts are missing, they are searched in a nested
    object of arguments. Return None if it is no command."""
    group: dict[str, str] = {} if seat is None else {"agent": str(seat)}
    for key, inner in value.items():
        role = key_role(str(key))
        if role and isinstance(inner, str | int) and not isinstance(inner, bool):
            group.setdefault(role, str(inner)[:80])
        elif plain_name(str(key)) in _WITHIN and isinstance(inner, Mapping):
            more = {key_role(str(k)): str(v)[:80] for k, v in inner.items() if isinstance(v, str | int)}
            group = {role: each for role, each in more.items() if role} | group
    given = command_from_roles(group, names)
    return given if given and (given[1][0] in VERBS or _is_plain(value, seat)) else None


def _by_verb(value: Mapping[str, Json], names: LevelNames, seat: int | None) -> GivenCommand | None:
    """Return the command in a JSON object whose only key is a verb, such as `{"goto": ["agent1",
    "pot0"]}`. Return None for any other object."""
    (verb, inner), *more = value.items() or [("", None)]
    if more or plain_name(str(verb)) not in VERBS:
        return None
    if isinstance(inner, Mapping):
        return _entry({"verb": verb, **inner}, names, seat)
    words = [inner] if isinstance(inner, str) else inner if isinstance(inner, list) else []
    return _of_words([str(verb), *(str(word) for word in words)], names, seat)


def _is_plain(value: Mapping[str, Json], seat: int | None) -> bool:
    """Return whether a JSON object is clearly meant as a command, judged by its keys. The command itself may
    be invalid."""
    keys = {plain_name(str(key)) for key in value}
    has_agent = seat is not None or bool(keys & {"agent", "robot"})
    return has_agent and bool(keys & {"verb", "command", "action"})


_THOUGHTS_BEGIN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_PLAINLY = str.maketrans(
    "\uff1a\uff0c\uff1b\uff08\uff09\uff1d\u2010\u2011\u2019\u00a0\u3000\u201c\u201d", ':,;()=--\'  ""'
)
"""Full-width and typographic characters, mapped to plain ones."""
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,200}~~")


def extract_from_reply(
    call: Mapping[str, Json] | None, text: str, names: LevelNames, requested: RequestedCommands
) -> ExtractedCommands:
    """Return the commands that a reply intends for this step, from its structured part `call`.

    If `call` is None or has no commands, the commands are read from `text`.
    """
    read = extract_from_call(call, names, requested) if call else None
    return read if read and (read.given or read.unclear) else extract_commands(text, names, requested)


def extract_commands(
    text: str, names: LevelNames, requested: RequestedCommands = ANY_COMMANDS
) -> ExtractedCommands:
    """Return the commands that a reply in free text intends for this step. Never raises."""
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
    """Return the commands that a structured reply intends for this step. Never raises.

    A reply that does not follow the schema is searched for commands too.
    """
    found: list[FoundCommand] = []
    for heading, given in commands_in_json(call, names):
        meant = heading_rank(heading, requested.step)
        found.append(FoundCommand(given, (0, heading, meant), is_list=True, meant=meant))
    return choose_commands(found, requested.seats)


def _without_thoughts(text: str) -> str:
    """Return the text without the model's thoughts (complete or cut off), and without Markdown's
    backslashes."""
    after = _THOUGHTS_END.split(text)[-1]
    said = _THOUGHTS_BEGIN.split(after)[0].replace("\\_", "_").translate(_PLAINLY)
    return _STRUCK_OUT.sub(" ", said).replace(MARK, " ").replace(TAKEN_MARK, " ")


def _finds(said: str, names: LevelNames, seats: Sequence[int]) -> list[Find]:
    """Return all commands in a model's reply, in order. If `seats` has only one agent, the reply need not
    name it."""
    held = list(json_values(said, names))
    finds = [each for each in held if each[1]]
    only = seats[0] if len(seats) == 1 and not finds else None
    spelled = commands_in_text(said, names, [span for span, _ in held], only)
    finds += [(each.span, (ListedCommand("", each.given),)) for each in spelled]
    return sorted(finds, key=lambda each: each[0])


def _marked(said: str, finds: Iterable[Find]) -> str:
    parts, at = [], 0
    for (begin, end), _ in finds:
        parts += [said[at:begin], MARK]
        at = end
    return "".join([*parts, said[at:]])
