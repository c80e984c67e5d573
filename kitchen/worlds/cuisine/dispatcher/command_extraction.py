"""Find the commands in a language model's text: in sentences, lists, tables, code or quotation marks.

These forms are found::

    goto_agent1_pot0     goto-agent1-pot0        goto agent1 pot0        goto | agent1 | pot0
    goto(agent1, pot0)   goto(agent=1, location="pot0")                  noop(1)
    agent1: goto pot0    agent1.goto(pot0)       agent1 -> goto_pot0     agent1 | goto | pot0
    agent: agent1, verb: goto, location: pot0    {'agent': 'agent1', 'action': 'goto pot0'}

Case, underscores and spaces in names do not matter (`Serving_Table0` is `servingtable0`). The number may be
left out if there is only one location of a kind. Unknown names are kept, so that the later check can report
them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.command_rules import VERBS

GivenCommand = tuple[int, Command]
"""A seat and its command."""

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_AGENT = re.compile(r"\W{0,3}(?:agent|robot)?[ _-]?(\d{1,3})\W{0,3}\Z", re.IGNORECASE | re.ASCII)
_NOTHING = frozenset(("", "none", "null", "nothing", "nil", "na", "empty"))
MAX_NAME_WORDS = 4
"""Largest number of words in one name, such as `mixed ground meat 0`."""


@dataclass(frozen=True, slots=True)
class LevelNames:
    """The names of a level's places and items in simplified form (`plain_name`), each with its code."""

    places: Mapping[str, str]
    items: Mapping[str, str]

    @classmethod
    def of(cls, brief: Mapping[str, Json]) -> LevelNames:
        """Return the names of the places and items in this brief (the unchanging facts of a kitchen)."""
        locations: Mapping[str, str] = brief["locations"]
        kinds = list(locations.values())
        places = {plain_name(kind): id for id, kind in locations.items() if kinds.count(kind) == 1}
        places |= {plain_name(id): id for id in locations}
        tools = {recipe["tool"] for recipe in brief["recipes"].values()}
        items = dict.fromkeys([*brief["names"], *brief["base"], *brief["recipes"]])
        other = {*locations, *kinds, *tools, *VERBS}
        return cls(places, {plain_name(item): item for item in items if item not in other})

    def begins(self, words: Sequence[str]) -> tuple[str, str, int]:
        """Return the longest name of a place or an item with which `words` begins, as (place, item, number of
        words). Return ("", "", 0) if there is none."""
        for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
            written = plain_name("".join(words[:length]))
            if written in self.places:
                return self.places[written], "", length
            if written in self.items:
                return "", self.items[written], length
        return "", "", 0

    def command(self, verb: str, place: str, item: str) -> Command:
        """Return the command with the codes of the written place and item.

        Empty arguments are left out, and so are arguments that the verb does not take.
        """
        most = VERBS[verb].most if verb in VERBS else 2
        if plain_name(place) in self.items and plain_name(item) in self.places:
            place, item = item, place
        place, item = written_or_empty(place), written_or_empty(item)
        known = [self.places.get(plain_name(place), place), self.items.get(plain_name(item), item)]
        return (verb, *[part for part in known if part][:most])


def plain_name(name: str) -> str:
    """Return the name in lower case, with only its letters and digits."""
    return _NO_NAME.sub("", name).lower()


def written_or_empty(written: str) -> str:
    """Return the text unchanged, or an empty string if it means nothing, such as `none` or `null`."""
    return "" if plain_name(written) in _NOTHING else written


def seat_named(written: str) -> int | None:
    """Return the seat number in `agent1`, `Agent 1`, `robot_1` or `1`; None for any other text."""
    match = _AGENT.match(written)
    return int(match[1]) if match else None


VERB_PATTERN = r"(?:go[ _-]?to|get|put|activate|noop)"
"""A pattern of every verb of the game."""

_KEYS = {
    **dict.fromkeys(("agent", "agentid", "agentname", "robot", "robotid", "seat", "id", "who"), "agent"),
    **dict.fromkeys(("verb", "command", "action", "act", "do", "function", "move", "name"), "verb"),
    **dict.fromkeys(("location", "place", "target", "destination", "where", "tool", "to", "from"), "place"),
    **dict.fromkeys(("item", "object", "ingredient", "what", "food"), "item"),
}
"""The role of a key, by the words that models use for it."""
_PHRASE_BEGINS = re.compile(rf"\W{{0,4}}({VERB_PATTERN})(?![A-Za-z0-9])", re.IGNORECASE)
_TOKEN = re.compile(r"[ \t_,|:\"'`*>\u2192-]{0,6}([A-Za-z]{1,40}\d{0,3}|\d{1,3})")
_CALL = re.compile(r"[ \t]{0,2}\(([^()\n\ue001]{0,160})\)")
_FILLERS = frozenset(("the", "a", "an", "to", "at", "from", "in", "into", "on", "onto", "with", "of", "one"))
END_PATTERN = re.compile(r"[ \t.,;:|)\]}\"'`*_]*(?:\n|$|[(#\u2013\u2014\u2192]|//|- )")
MAX_PHRASE_TOKENS = 10


def parse_phrase(seat: int, text: str, names: LevelNames) -> GivenCommand | None:
    """Return this seat's command from a text that names no agent, such as `goto pot0` or `goto(pot0)`.

    Return None if the text does not begin with a verb of the game. Also None if no arguments follow a verb
    that needs them.
    """
    match = _PHRASE_BEGINS.match(text)
    if not match:
        return None
    found = parse_arguments(normal_verb(match[1]), seat, text, match.end(), names, accept_unknown=True)
    return found[0] if found else None


def parse_arguments(
    verb: str, seat: int, text: str, at: int, names: LevelNames, *, accept_unknown: bool = False
) -> tuple[GivenCommand, int] | None:
    """Return a command and the position at which its arguments end. The arguments begin at position `at` of
    the text.

    Return None if the verb needs arguments and there are none. An unknown name is accepted at the end of a
    line, if it ends in a digit, or with `accept_unknown`.
    """
    if not takes_place(verb):
        return (seat, (verb,)), at
    call = _CALL.match(text, at)
    if call:
        given = parse_call_arguments(verb, call[1], names, seat)
        return (given, call.end()) if given else None
    place, item, end = _names_from(text, at, names)
    if place or (item and verb == "get"):
        return (seat, names.command(verb, place, item)), end
    return _unknown(verb, seat, text, at, accept_unknown=accept_unknown)


def _names_from(text: str, at: int, names: LevelNames) -> tuple[str, str, int]:
    """Read names in the text from position `at` on. Return the place, the item, and the position at which the
    names end."""
    words: list[tuple[str, int]] = []
    end = at
    while len(words) < MAX_PHRASE_TOKENS and (match := _TOKEN.match(text, end)):
        words.append((match[1], match.end()))
        end = match.end()
    place, item, end = "", "", at
    while words and not (place and item):
        if words[0][0].lower() in _FILLERS:
            words = words[1:]
            continue
        where, what, length = names.begins([word for word, _ in words])
        if not length or (where and place) or (what and item):
            break
        place, item, end = place or where, item or what, words[length - 1][1]
        words = words[length:]
    return place, item, end


def _unknown(
    verb: str, seat: int, text: str, at: int, *, accept_unknown: bool
) -> tuple[GivenCommand, int] | None:
    """Read a command with one unknown name, such as `goto stove`, or a verb at the end of a line. Return
    (command, end position), or None if there is none."""
    match = _TOKEN.match(text, at)
    word, end = (match[1], match.end()) if match else ("", at)
    ends = bool(END_PATTERN.match(text, end))
    if ends or accept_unknown or word[-1:].isdigit():
        return (seat, (verb, word) if word else (verb,)), end
    return None


def parse_call_arguments(
    verb: str, inside: str, names: LevelNames, seat: int | None = None
) -> GivenCommand | None:
    """Return the command of a call such as `goto(agent1, pot0)`. `inside` is the text in the brackets.

    If `seat` is given, the command is for this seat, and the call need not name an agent. If `seat` is None
    and the call names no agent, return None.
    """
    keyed, parts = _arguments(inside)
    agent = keyed.get("agent", parts[0] if parts else "")
    named = seat_named(agent)
    if seat is None and named is not None and "agent" not in keyed:
        is_agent = verb in VERBS and (agent.strip()[:1].isalpha() or verb == "noop")
        named = named if is_agent or len(parts) > 1 else None
    if "agent" not in keyed and named is not None:
        parts = parts[1:]
    who = named if seat is None else seat
    place, item = (*[part for part in parts if written_or_empty(part)], "", "")[:2]
    if who is None:
        return None
    return who, names.command(verb, keyed.get("place", place), keyed.get("item", item if place else ""))


def _arguments(inside: str) -> tuple[Mapping[str, str], list[str]]:
    """Split the text within a call's brackets. Return two things: the arguments that have a key, such as
    `place=pan0`, by their role, and the other arguments in order."""
    keyed: dict[str, str] = {}
    parts: list[str] = []
    for part in inside.split(","):
        key, sign, value = part.replace(":", "=", 1).partition("=")
        role = key_role(key) if sign else ""
        written = (value if role else part).strip(" \t\r\n\"'`*")
        if role:
            keyed[role] = written
        else:
            parts.append(written)
    return keyed, parts


def key_role(key: str) -> str:
    """Return the role of a key in a model's reply: `agent`, `verb`, `place` or `item`; empty for other
    keys."""
    return _KEYS.get(plain_name(key), "")


def normal_verb(written: str) -> str:
    """Return the verb in lower case. `go to` and `go-to` become `goto`."""
    lower = written.lower()
    return "goto" if plain_name(lower) == "goto" else lower


def takes_place(verb: str) -> bool:
    """Return whether the verb takes a place as argument. True for unknown verbs."""
    return verb not in VERBS or VERBS[verb].most > 0


Span = tuple[int, int]
"""A range in a text: begin and end."""


class FoundText(NamedTuple):
    """A command, and the range of the text in which it was found."""

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


def commands_in_text(
    text: str, names: LevelNames, taken: list[Span], only_seat: int | None
) -> list[FoundText]:
    """Return the commands in a text, including those in its tables. The ranges `taken` are not searched.

    If none is found and `only_seat` is given, return the commands on lines without an agent's name, for this
    seat.
    """
    rest = mark_taken(text, taken)
    found = list(_in_tables(rest, names))
    rest = mark_taken(rest, [each.span for each in found])
    found += find_commands(rest, names)
    return found if found or only_seat is None else list(_on_own_lines(only_seat, rest, names))


def find_commands(text: str, names: LevelNames) -> list[FoundText]:
    """Return all commands in a text that name their agent, in the order of the text. Tables are not read.
    Never raises."""
    found: list[FoundText] = []
    for reader in READERS:
        new = list(reader(text, names))
        found += new
        text = mark_taken(text, [each.span for each in new])
    return sorted(found, key=lambda each: each.span)


def mark_taken(text: str, spans: list[Span]) -> str:
    """Return the text with each character in these ranges replaced by TAKEN_MARK. The ranges must not
    overlap."""
    parts, at = [], 0
    for begin, end in sorted(spans):
        parts += [text[at:begin], TAKEN_MARK * (end - begin)]
        at = end
    return "".join([*parts, text[at:]])


def _spelled(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield commands that are written with underscores, such as `get_agent1_storage0_tuna`. The level's
    names show where the location ends."""
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
    """Yield commands that are written as calls, such as `goto(agent1, pot0)`. If the arguments have no
    keys, the first one must be an agent."""
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
    """Yield commands that are written as plain words, such as `goto agent1 pot0`. Words within a sentence
    are ignored."""
    for match in _IN_WORDS.finditer(text):
        if _in_a_sentence(text, match.start()):
            continue
        found = parse_arguments(normal_verb(match["verb"]), int(match["agent"]), text, match.end(), names)
        if found:
            yield FoundText(found[0], (match.start(), found[1]))


def _in_a_sentence(text: str, at: int) -> bool:
    """Return whether another word precedes the position `at` in its line. The word *and* is ignored if the
    line begins with a command."""
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
    """Return the command that these values make. The keys of `group` are the roles `agent`, `verb`, `place`
    and `item`.

    `verb` may hold a whole phrase, such as `goto pot0`. Return None if the agent or the verb is missing,
    or if the phrase cannot be read.
    """
    seat, verb = seat_named(group.get("agent", "")), group.get("verb", "").strip()[:80]
    if seat is None or not verb:
        return None
    spelled = [each.given for each in find_commands(verb, names) if each.given[0] == seat]
    if spelled:
        return spelled[0]
    word = normal_verb(verb)
    if word in VERBS or not _PHRASE_BEGINS.match(verb):
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

_ROW = re.compile(r"^[ \t]*+\|?([^|\n]{0,200}(?:\|[^|\n]{0,200}){1,11})$", re.MULTILINE)


def _in_tables(text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield the commands in the rows of tables, in order. A column's heading is read as a key
    (`key_role`)."""
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


def _on_own_lines(seat: int, text: str, names: LevelNames) -> Iterator[FoundText]:
    """Yield the commands for this seat that are written on lines of their own, without anything else."""
    for match in _LINE_OF_ONE.finditer(text):
        read = parse_arguments(normal_verb(match["verb"]), seat, text, match.end(), names)
        if read and END_PATTERN.match(text, read[1]):
            yield FoundText(read[0], (match.start("verb"), read[1]))
