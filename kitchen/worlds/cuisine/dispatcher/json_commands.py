"""Find the commands in JSON values of a language model's reply, whatever their shape.

An object with an agent and a verb is a command. So are a value under the name of an agent, a value under a
verb, and a string or a key that spells a command. Any other key is the heading of the values under it.
Strings under keys such as `plan` and `reasoning` are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.world import Json
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.command_extraction import (
    GivenCommand,
    LevelNames,
    Span,
    command_from_roles,
    find_commands,
    key_role,
    parse_phrase,
    plain_name,
    seat_named,
    takes_place,
)

MAX_JSON_STARTS = 64
"""Number of brackets in a text at which reading JSON may fail; later brackets are not tried."""
_BRACKET = re.compile(r"[{\[]")
MAX_JSON_DEPTH = 12
MAX_REPEATED_KEYS = 8
_WORDS = (
    *("plan", "reason", "thought", "think", "analys", "explan", "comment", "note", "feedback", "state"),
    *("say", "said", "tell", "messag", "speech"),
)
_WITHIN = ("arguments", "args", "input", "parameters", "params", "function", "properties")
"""Keys that say nothing about their values."""


AGAIN = "\x1f"
"""Ends a key that stood in the same object before."""


def _with_all_keys(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    """Return the object with every pair: a key that is repeated gets the mark AGAIN."""
    made: dict[str, Json] = {}
    for key, value in pairs:
        name = key.replace(AGAIN, " ")
        while name in made and len(name) < len(key) + MAX_REPEATED_KEYS:
            name += AGAIN
        made[name] = value
    return made


class ListedCommand(NamedTuple):
    """A command in a JSON value. Its heading consists of the keys that lead to the command."""

    heading: str
    given: GivenCommand


Find = tuple[Span, Sequence[ListedCommand]]
"""A range in a text, and its commands; those of one JSON value share one range."""


def json_values(text: str, names: LevelNames) -> Iterator[Find]:
    """Yield each JSON object or list in a text as (range, commands), in order. The commands may be empty."""
    decoder, at, tries = json.JSONDecoder(object_pairs_hook=_with_all_keys), 0, MAX_JSON_STARTS
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
    given = _entry(value, names, seat)
    if given:
        yield ListedCommand(heading, given)
        return
    for number, (key, inner) in enumerate((str(key), inner) for key, inner in value.items()):
        word = key.rstrip(AGAIN)
        under = f"{heading} again {number}".strip() if word != key else heading
        if plain_name(word) in VERBS:
            given_so = _under_verb(plain_name(word), inner, names, seat)
            yield from (ListedCommand(under, each) for each in given_so)
            continue
        spelled = _spelled_key(word, inner, names)
        if spelled:
            yield ListedCommand(f"{heading} {number}".strip(), spelled)
            continue
        named = seat_named(word) if word.strip()[:1].isalpha() else None  # a bare number names no seat
        if named is None and plain_name(word) not in _WITHIN:
            under = f"{under} {word}".strip()
        yield from commands_in_json(inner, names, under, seat if named is None else named, deep + 1)


def _under_verb(verb: str, inner: Json, names: LevelNames, seat: int | None) -> Iterator[GivenCommand]:
    """Yield the commands whose verb is a key, such as `{"goto": ["agent1", "pot0"]}`, `{"goto": {"agent1":
    "pot0"}}` or `{"goto": [{"agent": "agent1", "location": "pot0"}]}`."""
    parts = inner if isinstance(inner, list) else [inner]
    words = [part for part in parts if isinstance(part, str)]
    whole = _of_words([verb, *words], names, seat) if len(words) == len(parts) else None
    if whole:
        yield whole
        return
    for part in parts:
        if isinstance(part, Mapping):
            yield from _of_verb_object(verb, part, names, seat)
        elif isinstance(part, str) and (given := _of_words([verb, part], names, seat)):
            yield given


def _of_verb_object(
    verb: str, value: Mapping[str, Json], names: LevelNames, seat: int | None
) -> Iterator[GivenCommand]:
    one = _entry({"verb": verb, **value}, names, seat)
    if one:
        yield one
        return
    for key, rest in value.items():
        named = seat_named(str(key).rstrip(AGAIN))
        if named is not None:
            yield from _under_verb(verb, rest, names, named)


def _spelled_key(key: str, inner: Json, names: LevelNames) -> GivenCommand | None:
    """Return the command that a key spells, such as `goto_agent1_pot0`, or with its value `goto_agent1`.
    Return None for any other key, and if the value is false."""
    found = find_commands(key, names)
    if len(found) != 1 or inner is False:
        return None
    seat, command = found[0].given
    if len(command) > 1 or not takes_place(command[0]):
        return found[0].given
    rest = inner if isinstance(inner, list) else [inner]
    return _of_words([command[0], *(str(word) for word in rest)], names, seat)


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


def _is_plain(value: Mapping[str, Json], seat: int | None) -> bool:
    """Return whether a JSON object is clearly meant as a command, judged by its keys. The command itself may
    be invalid."""
    keys = {plain_name(str(key)) for key in value}
    has_agent = seat is not None or bool(keys & {"agent", "robot"})
    return has_agent and bool(keys & {"verb", "command", "action"})
