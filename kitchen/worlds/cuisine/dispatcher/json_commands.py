"""Find commands in JSON of any shape: the structured reply, and objects within a text.

An object with an agent and a verb is a command. A value under an agent's name is a command, and so is a
string that spells one. Values under another key are a list of their own, with that key as its heading.
Strings under keys such as `plan` and `reasoning` are words and no commands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import GivenCommand
from kitchen.worlds.cuisine.dispatcher.phrase_parser import (
    LevelNames,
    key_role,
    parse_phrase,
    plain_name,
    seat_named,
)
from kitchen.worlds.cuisine.dispatcher.text_commands import Span, command_from_roles, find_commands

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
