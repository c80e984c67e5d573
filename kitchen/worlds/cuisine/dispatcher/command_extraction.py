"""Find commands in a model's reply: in free text, in tables, and in JSON of any shape.

Commands are found in any case, within sentences, lists, tables, code or quotation marks::

    goto_agent1_pot0     goto-agent1-pot0        goto agent1 pot0        goto | agent1 | pot0
    goto(agent1, pot0)   goto(agent=1, location="pot0")                  noop(1)
    agent1: goto pot0    agent1.goto(pot0)       agent1 -> goto_pot0     agent1 | goto | pot0
    agent: agent1, verb: goto, location: pot0    {'agent': 'agent1', 'action': 'goto pot0'}

Names are matched without regard to case, underscores and blanks (`Serving_Table0` is `servingtable0`). The
number may be left out if there is only one location of a kind. An item after put or activate is left out,
because these take none. Names that the level does not have are kept, so that the check can report them. All
readers are linear in the length of the text.

In JSON, an object with an agent and a verb is a command. A value under an agent's name is a command, and so
is a string that spells one. Values under another key are a list of their own, with that key as its heading.
Strings under keys such as `plan` and `reasoning` are treated as text, not as commands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import GivenCommand
from kitchen.worlds.cuisine.dispatcher.phrase_parser import (
    END_PATTERN,
    VERB_PATTERN,
    LevelNames,
    begins_with_verb,
    key_role,
    normal_verb,
    parse_arguments,
    parse_call_arguments,
    parse_phrase,
    plain_name,
    seat_named,
    takes_place,
    written_or_empty,
)

Span = tuple[int, int]
"""A range in a text: begin and end."""


class FoundText(NamedTuple):
    """A command and its range in the text."""

    given: GivenCommand
    span: Span


TAKEN_MARK = "\ue001"
"""Replaces each letter that was already read, so that nothing is read twice."""

_WHO = r"(?:agent|robot)[ _-]?"
_SPELLED = re.compile(
    r"(?<![A-Za-z0-9])(?P<verb>go[ _-]to|[A-Za-z]{2,20})(?P<by>[_-])(?:agent|robot)[_-]?(?P<agent>\d{1,3})"
    r"(?P<rest>(?:(?P=by)[A-Za-z0-9]{1,40}){0,6})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_FIRST = r"\s{0,3}[\"'`*]{0,2}(?:agent|robot)?[ _]?\d{1,3}[\"'`*]{0,2}\s{0,3}[,)]"
_KEYED_FIRST = r"[^()\n]{0,80}?(?:agent|robot)(?:_?id)?[\"']?\s{0,2}[=:]"
_CALLED = re.compile(
    rf"(?<![A-Za-z0-9])(?P<verb>go[ _-]to|[A-Za-z]{{2,20}})[ \t]{{0,3}}\((?={_FIRST}|{_KEYED_FIRST})"
    r"(?P<inside>[^()\ue001]{1,160})\)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_NEXT_IS_AGENT = rf"(?![ \t_-]{{0,2}}{_WHO}\d{{1,3}}(?!\s?[:.]))"
_SIDE_BY_SIDE = r"(?P<by>[ \t:,=|>\]\)\"'`*_\u2013\u2014\u2192.-]{1,10})"
_BELOW = r"[\"'`*_]{0,3}(?::|\*\*)[ \t*:_]{0,4}\n{1,2}[ \t]{0,8}(?:[-*\u2022]|\d[.)])?[ \t\"'`*]{0,4}"
_OF_AGENT = re.compile(
    rf"(?<![A-Za-z0-9_]){_WHO}(?P<agent>\d{{1,3}})(?:'s)?(?:[ \t](?:command|action|move))?"
    r"(?:[ \t]?\([^()\n\ue001]{0,60}\))?"
    rf"(?:{_SIDE_BY_SIDE}|{_BELOW})(?P<verb>{VERB_PATTERN})(?![A-Za-z0-9]){_NEXT_IS_AGENT}",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    rf"(?<![A-Za-z0-9])(?P<verb>{VERB_PATTERN})[ \t|,:_*`-]{{1,5}}{_WHO}(?P<agent>\d{{1,3}})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![A-Za-z0-9_])[\"']?(?P<key>[A-Za-z]{2,12}(?:_(?:id|name))?)[\"']?\s{0,2}[:=]\s{0,2}"
    r"[\"'`]?(?P<value>[A-Za-z0-9_]{1,40}(?:[ _-][A-Za-z0-9_]{1,40}(?![A-Za-z0-9_]|\s{0,2}[:=])){0,4})"
)
_STATE_WORDS = frozenset(("at", "hold", "holds", "inside", "occupy", "agent", "location", "orders"))
"""Verbs that describe the state, in the words of the paper's states; they are never commands."""
_BEGINS = re.compile(
    rf"[\W\d]*(?:{VERB_PATTERN}[ "
    rf"\t|,:_-]{{1,5}}{_WHO}\d|{_WHO}\d{{1,3}}\W{{1,5}}{VERB_PATTERN}(?![A-Za-z0-9])|{TAKEN_MARK})",
    re.IGNORECASE,
)
_LINE_OF_ONE = re.compile(
    r"^[^A-Za-z\n]{0,12}(?:(?:my |the )?(?:command|action|move)s?\W{1,6})?"
    rf"(?P<verb>{VERB_PATTERN})(?![A-Za-z0-9])",
    re.IGNORECASE | re.MULTILINE,
)
MAX_DISTANCE = 200
"""Number of letters before a command that are examined."""


def find_commands(text: str, names: LevelNames) -> list[FoundText]:
    """Return all commands that are spelled in a text, in their order. Never raises."""
    found: list[FoundText] = []
    for reader in READERS:
        new = list(reader(text, names))
        found += new
        text = mark_taken(text, [each.span for each in new])
    return sorted(found, key=lambda each: each.span)


def mark_taken(text: str, spans: list[Span]) -> str:
    """Return the text with these ranges, which do not overlap, marked as read."""
    parts, at = [], 0
    for begin, end in sorted(spans):
        parts += [text[at:begin], TAKEN_MARK * (end - begin)]
        at = end
    return "".join([*parts, text[at:]])


def commands_on_own_lines(seat: int, text: str, names: LevelNames) -> list[FoundText]:
    """Return the commands of lines with nothing but a phrase, if no other agent can be meant."""
    found: list[FoundText] = []
    for match in _LINE_OF_ONE.finditer(text):
        read = parse_arguments(normal_verb(match["verb"]), seat, text, match.end(), names)
        if read and END_PATTERN.match(text, read[1]):
            found.append(FoundText(read[0], (match.start("verb"), read[1])))
    return found


def _spelled(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield commands such as `get_agent1_storage0_tuna`; the level's names show where the location ends."""
    for match in _SPELLED.finditer(text):
        verb, seat = normal_verb(match["verb"]), int(match["agent"])
        words = match["rest"].split(match["by"])[1:]
        if verb in _STATE_WORDS or (match["by"] == "-" and verb not in VERBS):
            continue
        needs_more = not words and takes_place(verb)
        more = parse_arguments(verb, seat, text, match.end(), names) if needs_more else None
        given, end = more or ((seat, _command_of_words(verb, words, names)), match.end())
        yield FoundText(given, (match.start(), end))


def _command_of_words(verb: str, words: list[str], names: LevelNames) -> tuple[str, ...]:
    for end in range(len(words), 0, -1):
        place = names.places.get(plain_name("".join(words[:end])))
        if place:
            return names.command(verb, place, "".join(words[end:]))
    place, item = (*words, "", "")[0], "_".join(words[1:])
    return names.command(verb, place, item)


def _called(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield calls such as `goto(agent1, pot0)`; without keys, the first argument must be an agent."""
    for match in _CALLED.finditer(text):
        verb = normal_verb(match["verb"])
        given = parse_call_arguments(verb, match["inside"], names)
        if given and verb not in _STATE_WORDS:
            yield FoundText(given, match.span())


def _of_agent(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield commands such as `agent1: goto pot0` and `agent1.goto(pot0)`."""
    for match in _OF_AGENT.finditer(text):
        by = match["by"] or ":"
        if (by.isspace() and _in_a_sentence(text, match.start())) or ("." in by and by != "."):
            continue
        found = parse_arguments(normal_verb(match["verb"]), int(match["agent"]), text, match.end(), names)
        if found:
            yield FoundText(found[0], (match.start(), found[1]))


def _in_words(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield commands such as `goto agent1 pot0` that are no part of a sentence."""
    for match in _IN_WORDS.finditer(text):
        if _in_a_sentence(text, match.start()):
            continue
        found = parse_arguments(normal_verb(match["verb"]), int(match["agent"]), text, match.end(), names)
        if found:
            yield FoundText(found[0], (match.start(), found[1]))


def _in_a_sentence(text: str, at: int) -> bool:
    """Return whether a word precedes it, other than *and* in a line that begins with a command."""
    line = text[max(text.rfind("\n", max(0, at - MAX_DISTANCE), at) + 1, at - MAX_DISTANCE) : at].rstrip(
        " \t"
    )
    return line[-1:].isalpha() and not (line.endswith(" and") and _BEGINS.match(line))


def _keyed(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield keyed commands in any order: `agent: agent1, verb: goto`, also in YAML or faulty JSON."""
    group: dict[str, str] = {}
    begin = end = 0
    for match in _PAIR.finditer(text):
        role = key_role(match["key"])
        if not role:
            continue
        apart = match.start() - end > 16 or re.search(r"[A-Za-z]", text[end : match.start()])
        if group and (apart or role in group):
            yield from _grouped(group, (begin, end), names)
            group = {}
        begin = begin if group else match.start()
        group[role], end = match["value"], match.end()
    yield from _grouped(group, (begin, end), names)


def _grouped(group: Mapping[str, str], span: Span, names: LevelNames) -> Iterator[FoundText]:
    given = command_from_roles(group, names)
    if given and given[1][0] in VERBS:
        yield FoundText(given, span)


def command_from_roles(group: Mapping[str, str], names: LevelNames) -> GivenCommand | None:
    """Return the command of values by role; None without agent and verb. `verb` may be a whole phrase."""
    seat, verb = seat_named(group.get("agent", "")), group.get("verb", "").strip()[:80]
    if seat is None or not verb:
        return None
    spelled = [each.given for each in find_commands(verb, names) if each.given[0] == seat]
    if spelled:
        return spelled[0]
    word = normal_verb(verb)
    if word in VERBS or not begins_with_verb(verb):
        place = group.get("place", "")
        return seat, names.command(word[:40], place, group.get("item", "") if written_or_empty(place) else "")
    return parse_phrase(seat, verb, names)


READERS: tuple[Callable[[str, LevelNames], Iterator[FoundText]], ...] = (
    _spelled,
    _called,
    _of_agent,
    _in_words,
    _keyed,
)
"""Readers, the most exact first: text that one reader has read is hidden from the next."""

_ROW = re.compile(r"^[ \t]*\|?([^|\n]{0,200}(?:\|[^|\n]{0,200}){1,11})$", re.MULTILINE)


def commands_in_tables(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield the commands of all rows, in order. A column's name is read as a key (`key_role`)."""
    columns: Mapping[int, str] = {}
    for match in _ROW.finditer(text):
        cells = [cell.strip(" \t*`_\"'") for cell in match[1].split("|")]
        roles = {place: key_role(cell) for place, cell in enumerate(cells) if key_role(cell)}
        if {"agent", "verb"} <= set(roles.values()):
            columns = roles
            continue
        group = {role: cells[place] for place, role in columns.items() if place < len(cells)}
        given = command_from_roles(group, names)
        if given:
            yield FoundText(given, match.span())


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
    """A command, and the keys above it as a heading."""

    heading: str
    given: GivenCommand


class JsonValue(NamedTuple):
    """The commands of a JSON value, and its position in a text."""

    listed: tuple[ListedCommand, ...]
    span: Span


def json_values(text: str, names: LevelNames) -> Iterator[JsonValue]:
    """Yield the JSON objects and lists in a text, in their order; also those without commands."""
    decoder, at, tries = json.JSONDecoder(), 0, MAX_JSON_STARTS
    while tries and (bracket := _BRACKET.search(text, at)):
        try:
            value, at = decoder.raw_decode(text, bracket.start())
        except (ValueError, RecursionError):
            at, tries = bracket.end(), tries - 1
            continue
        if value:
            yield JsonValue(tuple(commands_in_json(value, names)), (bracket.start(), at))


def commands_in_json(value: Json, names: LevelNames) -> Iterator[ListedCommand]:
    """Return all commands of a JSON value, in their order. Never raises."""
    return _walk(value, names, "", None, 0)


def _walk(
    value: Json, names: LevelNames, heading: str, seat: int | None, deep: int
) -> Iterator[ListedCommand]:
    """Yield the commands of a value; `seat` is the agent that a key above it names, if any."""
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
        yield from _walk(inner, names, under, seat if named is None else named, deep + 1)


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
        yield from _walk(part, names, heading, seat, deep + 1)


def _of_words(words: list[str], names: LevelNames, seat: int | None) -> GivenCommand | None:
    """Return a command given as a list of words, such as `["goto", "agent1", "pot0"]`."""
    if plain_name(words[0]) not in VERBS:
        return None
    if seat is not None:
        return parse_phrase(seat, " ".join(word for word in words if seat_named(word) is None), names)
    found = find_commands(" ".join(words), names)
    return found[0].given if len(found) == 1 else None


def _of_text(text: str, names: LevelNames, heading: str, seat: int | None) -> list[GivenCommand]:
    if text.lstrip()[:1] in ("{", "["):
        within = [each.given for value in json_values(text, names) for each in value.listed]
        if within:
            return within
    last = heading.rpartition(" ")[2].lower()
    if seat is None and any(word in last for word in _WORDS):
        return []
    spelled = [each.given for each in find_commands(text, names)]
    alone = None if spelled or seat is None else parse_phrase(seat, text, names)
    return [alone] if alone else spelled


def _entry(value: Mapping[str, Json], names: LevelNames, seat: int | None) -> GivenCommand | None:
    """Return an object that is one command; missing parts may be in its arguments."""
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
    """Return an object whose only key is the verb, such as `{"goto": ["agent1", "pot0"]}`."""
    (verb, inner), *more = value.items() or [("", None)]
    if more or plain_name(str(verb)) not in VERBS:
        return None
    if isinstance(inner, Mapping):
        return _entry({"verb": verb, **inner}, names, seat)
    words = [inner] if isinstance(inner, str) else inner if isinstance(inner, list) else []
    return _of_words([str(verb), *(str(word) for word in words)], names, seat)


def _is_plain(value: Mapping[str, Json], seat: int | None) -> bool:
    """Return whether the object's keys show clearly that it is a command, even a made-up one."""
    keys = {plain_name(str(key)) for key in value}
    has_agent = seat is not None or bool(keys & {"agent", "robot"})
    return has_agent and bool(keys & {"verb", "command", "action"})
