"""Choose the commands that a language model's reply intends for this step.

A reply may discuss several commands before it chooses, take some back, and mention later steps:

1. Commands that a later sentence takes back or replaces are not meant. Nor are rejected commands,
   alternatives, and commands under a condition.
2. Of the others, lists take precedence over sentences. Lists under a heading such as `Final commands` take
   precedence over lists under `Commands` or the number of this step, and these over other lists.
3. Commands for another step are used only if nothing else was found.
4. If passages give an agent different commands, and the order above does not decide, the agent is `unclear`.
   So is an agent with the same verb for two places in one list; else, the first command in a list counts.
   Nothing is guessed. The model is told, and asked again if the settings say so.

Text in a `<think>` block and struck-out text are ignored. Source: MindAgent, section 4.1, Action Extraction.
"""

# A command with an unknown verb is used only for an agent that has no other command. The time is linear in
# the length of the text.

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.words.reply_limits import limited_text
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.command_extraction import (
    TAKEN_MARK,
    GivenCommand,
    LevelNames,
    commands_in_text,
    plain_name,
)
from kitchen.worlds.cuisine.dispatcher.json_commands import (
    Find,
    ListedCommand,
    commands_in_json,
    json_values,
)
from kitchen.worlds.cuisine.dispatcher.reply_passages import MARK, Passage, PassageReader, Retraction
from kitchen.worlds.cuisine.dispatcher.reply_phrases import (
    LATER,
    NOT_MEANT,
    PLAIN,
    chosen_option,
    heading_rank,
    is_of_other_commands,
    plain_words,
    sentences,
    step_numbers,
)


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
    """Agents with different commands in several passages, with the first command of each passage. An agent
    whose only command was taken back is listed with that command."""


PassageId = tuple[int, str, int]


class FoundCommand(NamedTuple):
    """A command, the passage in which it was found, and how strongly it is intended (`heading_rank`)."""

    given: GivenCommand
    passage: PassageId
    is_list: bool
    meant: int
    epoch: int = 0
    goes_on: bool = False
    """Whether the words beside it offer the agent another command, which may not be readable."""


class _Offer(NamedTuple):
    """The first command of one passage for one agent."""

    rank: tuple[bool, int, int]
    """List, epoch, strength of intention: a greater rank is stronger."""
    command: Command
    passage: PassageId
    choices: tuple[Command, ...] = ()
    """The command, and others with the same verb: they cannot be meant one after another."""


def choose_commands(
    found: Sequence[FoundCommand], seats: Sequence[int], retractions: Sequence[Retraction] = ()
) -> ExtractedCommands:
    """Return the commands that the model intends for these seats, in order. `found` are all commands in its
    reply.

    A seat is `unclear` if equally likely passages give it different commands, or if its commands were taken
    back.
    """
    possible = [each for each in found if each.meant >= PLAIN] or [
        each for each in found if each.meant == LATER
    ]
    standing = list(_not_taken_back(possible, found, retractions))
    commanded = {each.given[0] for each in standing if each.given[1][0] in VERBS}
    real = [each for each in standing if each.given[1][0] in VERBS or each.given[0] not in commanded]
    meant: dict[int, PassageId] = {}
    unclear: dict[int, tuple[Command, ...]] = {}
    for seat, offers in _offers(real).items():
        best = max(offers, key=lambda offer: offer.rank)
        rivals = [each for each in offers if each.rank == best.rank or _comes_later(each, best)]
        ways = tuple(dict.fromkeys(each.command for each in rivals)) if len(rivals) > 1 else best.choices
        meant[seat] = best.passage
        if len(ways) > 1:
            unclear[seat] = ways
    for each in possible:
        seat, command = each.given
        if seat not in meant and seat in seats:
            unclear.setdefault(seat, (command,))
    for seat, ways in _rejected_ways(found).items():
        if seat not in meant and seat in seats:
            unclear.setdefault(seat, ways)
    kept = (each.given for each in real if each.passage == meant[each.given[0]])
    asked = {seat: ways for seat, ways in unclear.items() if seat in seats or not seats}
    return ExtractedCommands(tuple(each for each in kept if each[0] not in unclear), asked)


def _rejected_ways(found: Sequence[FoundCommand]) -> Mapping[int, tuple[Command, ...]]:
    """Return the different commands that the reply rejects, by seat, if it may mean one of them after all:
    if there are several, or if the words go on with another one."""
    ways: dict[int, dict[Command, None]] = {}
    open_seats = {each.given[0] for each in found if each.goes_on}
    for each in found:
        if each.meant == NOT_MEANT:
            ways.setdefault(each.given[0], {})[each.given[1]] = None
    return {seat: tuple(ways[seat]) for seat in ways if len(ways[seat]) > 1 or seat in open_seats}


def _comes_later(other: _Offer, best: _Offer) -> bool:
    """Return whether another list, or a sentence that may replace the best list, stands behind it."""
    is_list, epoch, _ = other.rank
    return epoch > best.rank[1] or (is_list and other.passage[0] > best.passage[0])


def _not_taken_back(
    possible: Sequence[FoundCommand], found: Sequence[FoundCommand], retractions: Sequence[Retraction]
) -> Iterator[FoundCommand]:
    """Yield the commands that no later sentence takes back, replaces or rejects."""
    places = {id(each): place for place, each in enumerate(found)}
    rejected = {each.given: place for place, each in enumerate(found) if each.meant == NOT_MEANT}
    counted = [each for each in retractions if each.is_firm or _replaces(possible, each)]
    for each in possible:
        seat = each.given[0]
        back = any(
            each.epoch < one.epoch
            and (not one.agents or seat in one.agents)
            and (not one.names or one.names & _words_of(each.given[1]))
            for one in counted
        )
        if not back and rejected.get(each.given, -1) < places[id(each)]:
            yield each


def _words_of(names: Iterable[str]) -> frozenset[str]:
    """Return these names of places and items in lower case, with and without their numbers."""
    plain = [plain_name(name) for name in names]
    return frozenset([*plain, *(name.rstrip("0123456789") for name in plain)]) - {""}


def _replaces(possible: Sequence[FoundCommand], retraction: Retraction) -> bool:
    """Return whether commands after the sentence are for agents that also had some before it."""
    before = {each.given[0] for each in possible if each.epoch < retraction.epoch}
    return any(each.epoch >= retraction.epoch and each.given[0] in before for each in possible)


def _offers(found: Sequence[FoundCommand]) -> Mapping[int, list[_Offer]]:
    """Return, for each seat, its first command in each passage of the model's reply."""
    several: dict[tuple[int, PassageId], list[FoundCommand]] = {}
    for each in found:
        several.setdefault((each.given[0], each.passage), []).append(each)
    offers: dict[int, list[_Offer]] = {}
    for (seat, passage), (first, *others) in several.items():
        command, rank = first.given[1], (first.is_list, first.epoch, first.meant)
        alike = (each.given[1] for each in others if each.given[1][0] == command[0])
        choices = tuple(dict.fromkeys((command, *alike)))
        offers.setdefault(seat, []).append(_Offer(rank, command, passage, choices))
    return offers


_THOUGHT = r"(?:think(?:ing)?|thoughts?|reasoning|scratch_?pad|analysis|reflection|inner_?monologue|draft)"
_THOUGHT_TAG = re.compile(rf"<(/?){_THOUGHT}>", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*(?:<\|[a-z]+\|>[^<]{0,80})?<\|message\|>")
_OTHER_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary)")
_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_PLAINLY = _ASCII | str.maketrans(
    "\uff61\u2010\u2011\u2012\u2212\u2018\u2019\u201c\u201d\u00a0\u202f\u205f\u3000\u2028\u2029\x85\x0b\x0c",
    "\u3002----''\"\"    \n\n\n\n\n",
)
"""Full-width and typographic characters, mapped to plain ones."""
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\U000e0000-\U000e0fff]"
)
_OTHER_LETTERS = re.compile("[\u2000-\u200a\U0001d400-\U0001d7ff]")
"""Wide spaces, and letters of formulas such as bold ones."""
_STRUCK_OUT = re.compile(r"~~[^~]{1,600}~~|<(del|s|strike)>.{0,600}?</\1>|<!--.{0,600}?-->", re.DOTALL)


def extract_from_reply(
    call: Mapping[str, Json] | None,
    text: str,
    names: LevelNames,
    requested: RequestedCommands,
    *,
    cut: bool = False,
) -> ExtractedCommands:
    """Return the commands that a reply intends for this step, from its structured part `call`.

    If `call` is None or has no commands, the commands are read from `text`. `cut` tells that the text was cut
    off at the largest number of tokens.
    """
    read = extract_from_call(call, names, requested) if call else None
    return (
        read if read and (read.given or read.unclear) else extract_commands(text, names, requested, cut=cut)
    )


def extract_commands(
    text: str, names: LevelNames, requested: RequestedCommands = ANY_COMMANDS, *, cut: bool = False
) -> ExtractedCommands:
    """Return the commands that a reply in free text intends for this step. Never raises.

    The last command of a text that was cut off is left out, because its end may be missing.
    """
    said = readable_text(text)
    finds = _finds(said, names, requested.seats)
    if finds and _ends_open(said, finds[-1], cut=cut):
        finds = finds[:-1]
    level_words = _words_of([*names.places, *names.items])
    reader = PassageReader([frozenset(each.given[0] for each in listed) for _, listed in finds], level_words)
    marked = _marked(said, finds)
    passages, way = list(reader.read(marked)), chosen_option(sentences(marked))
    first = _first_step(passages, requested.step)
    found: list[FoundCommand] = []
    for passage, (_, listed) in zip(passages, finds, strict=True):
        for heading, given in listed:
            meant = _meant(passage, heading, first, way)
            place = (passage.number, heading, meant)
            found.append(FoundCommand(given, place, passage.is_list, meant, passage.epoch, passage.goes_on))
    return choose_commands(found, requested.seats, reader.retractions)


def _meant(passage: Passage, heading: str, step: int | None, way: str) -> int:
    """Return how strongly the commands of this passage are intended (`heading_rank`)."""
    if passage.is_refused:
        return NOT_MEANT
    if not passage.is_list:
        return NOT_MEANT if is_of_other_commands(passage.words) else PLAIN
    ranks = [
        heading_rank(words, step, way) for words in (*passage.words.split("\n"), heading) if words.strip()
    ]
    telling = [rank for rank in ranks if rank != PLAIN]
    rank = NOT_MEANT if NOT_MEANT in telling[-1:] else (telling or [PLAIN])[-1]
    return min(rank, LATER) if passage.is_quoted else rank


def _first_step(passages: Iterable[Passage], step: int | None) -> int | None:
    """Return the number of the step for which commands were asked, as the reply counts: 1 if it numbers its
    lists from 1 and has none for `step`."""
    numbers = {
        number for each in passages if each.is_list for number in step_numbers(plain_words(each.words))
    }
    return 1 if 1 in numbers and step not in numbers else step


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


def readable_text(text: str) -> str:
    """Return the text without the model's thoughts, struck-out words, invisible characters and Markdown's
    backslashes, and with plain letters and signs. Its length is limited (`limited_text`)."""
    said = _OTHER_LETTERS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    said = _INVISIBLE.sub("", said).translate(_PLAINLY).replace("\\_", "_")
    said = limited_text(_without_thoughts(said))
    return _STRUCK_OUT.sub(" ", said).replace(MARK, " ").replace(TAKEN_MARK, " ")


def _without_thoughts(text: str) -> str:
    """Return the text without the model's thoughts. They may be cut off, and their first mark may be
    missing."""
    *_, said = _FINAL_CHANNEL.split(text)
    said = _OTHER_CHANNEL.split(said)[0]
    parts, at, deep = list[str](), 0, 0
    for tag in _THOUGHT_TAG.finditer(said):
        if not tag[1]:
            parts += [said[at : tag.start()]] if not deep else []
            deep += 1
        elif deep:
            deep -= 1
        else:
            parts = []  # a thought whose beginning was not sent
        at = tag.end()
    return "".join([*parts, said[at:] if not deep else ""])


def _ends_open(said: str, last: Find, *, cut: bool) -> bool:
    """Return whether the text ends within or directly after its last command, so that its end may be
    missing."""
    (begin, end), _ = last
    if said[begin : begin + 1] in ("{", "["):
        return False
    if said[begin : begin + 1] == '"' and said[:begin].rstrip().endswith("{") and "}" not in said[end:]:
        return True
    line = said.rfind("\n") + 1
    if begin >= line and said.count('"', line) % 2:
        return True
    return cut and end >= len(said.rstrip())


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
