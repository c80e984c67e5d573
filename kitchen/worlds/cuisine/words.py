"""CuisineWorld in words: names, commands, what came of them. Plain Python, no Django.

Codes (`pot0`, `salmonSashimi`, `would_waste`) live in the data; people read what this module makes of them,
in their language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.world import Command, Json
from kitchen.words.speech import gettext, language, marked, ngettext, pgettext
from kitchen.worlds.cuisine.refusals import sentence, telling

_SPELLED = {
    "servingtable": "Serving table",
    "chopboard": "Chopping board",
    "MaxJr": "Max Jr burger",
    "Hopper": "Hopper burger",
    "BurritodePastor": "Burrito de Pastor",
    "BurritodeAsada": "Burrito de Asada",
    "BurritodePollo": "Burrito de Pollo",
}
_KEEP_CAPITAL = ("Max Jr", "Hopper", "Burrito", "Hawaiian")
_INSTANCE = re.compile(r"^([A-Za-z]+?)(\d+)$")
_NUMBERED = re.compile(r"^(.*\D) (\d+)$")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def readable(code: str) -> str:
    """A name for a code that nobody has named: `pot0` is `Pot 1`, `salmonSushi` is `Salmon sushi`."""
    if code in _SPELLED:
        return _SPELLED[code]
    numbered = _INSTANCE.match(code)
    if numbered:
        return f"{readable(numbered[1])} {int(numbered[2]) + 1}"
    words = _HUMP.sub(" ", code.replace("_", " ")).lower()
    return words[:1].upper() + words[1:]


def within(name: str) -> str:
    """A name as it stands in the middle of a sentence: `Salmon sushi` becomes `salmon sushi`."""
    if name.startswith(_KEEP_CAPITAL):
        return name
    return name[:1].lower() + name[1:]


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    comma = pgettext("between the things of a list", ", ")
    return gettext("{things} and {last}").format(things=comma.join(parts[:-1]), last=parts[-1])


def steps(number: int) -> str:
    """`1 step`, `2 steps`."""
    return ngettext("{number} step", "{number} steps", number).format(number=number)


def more_steps(number: int) -> str:
    """`1 more step`, `2 more steps`."""
    return ngettext("{number} more step", "{number} more steps", number).format(number=number)


_WHERE_WORDS_MEET = {"es": ((" a el ", " al "), (" de el ", " del "))}
"""What two words become beside each other, by language."""


def joined(sentence: str) -> str:
    """A sentence that was put together of a place and what is done there."""
    for apart, together in _WHERE_WORDS_MEET.get(language(), ()):
        sentence = sentence.replace(apart, together)
    return sentence


def marked_place(name: str, *, several: bool) -> str:
    """How catalogues know a place within a sentence, by its name: `the blender`, `pot {number}`,
    `storage`."""
    if several:
        return f"{within(name)} {{number}}"
    return within(name) if name == "Storage" else f"the {within(name)}"


class Words:
    """The words of one kitchen: names from its brief, the rest spelled out from the code."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = names or {}

    def name(self, code: str) -> str:
        """As it stands alone: `Pot 1`, `Salmon sushi`."""
        name, number = self._apart(code)
        if not number:
            return gettext(name)
        return pgettext("one of several", "{name} {number}").format(name=gettext(name), number=number)

    def english(self, code: str) -> str:
        """As the catalogues know it: not looked up."""
        return self.names.get(code) or readable(code)

    def _apart(self, code: str) -> tuple[str, str]:
        """The English name, and the number behind it; none where there is one only."""
        name = self.english(code)
        numbered = _NUMBERED.match(name)
        return (numbered[1], numbered[2]) if numbered else (name, "")

    def mid(self, code: str) -> str:
        """As it stands within a sentence: `pot 1`, `salmon sushi`."""
        return within(self.name(code))

    def place(self, code: str) -> str:
        """A place within a sentence: `pot 1`, `the blender` where there is one only, `storage`."""
        name, number = self._apart(code)
        within_a_sentence = marked_place(name, several=bool(number))
        return pgettext("within a sentence", within_a_sentence).format(number=number)

    def items(self, codes: Iterable[str]) -> str:
        """Several items in one phrase, within a sentence."""
        return listed([self.mid(code) for code in codes])

    def phrase(self, command: Command, holds: str | None = None) -> str:
        """What a command asks for: `Take rice from storage`; every command gets some words. What is put down
        is named where it is known what the robot `holds`."""
        if command[:1] == ("put",) and _complete(command):
            return joined(_put(self, command, holds))
        make = _PHRASES.get(command[0] if command else "")
        return joined(make(self, command)) if make and _complete(command) else _unknown(command)

    def did(self, command: Command, item: str | None = None, *, robot: str = "", stayed: bool = False) -> str:
        """The same once it was done, by this robot or by you: `You took rice`; `item` is what was in the
        hands, and whoever `stayed` was there already."""
        deed = "stay" if stayed else _deed(command)
        return self._told(DID[deed], command, item, robot)

    def tried(self, command: Command, robot: str = "") -> str:
        """The same when it was refused: `You wanted to use pot 1`."""
        return self._told(TRIED[_deed(command)], command, None, robot)

    def _told(self, deed: Deed, command: Command, item: str | None, robot: str) -> str:
        known = _complete(command)
        thing = command[2] if known and len(command) > 2 else item
        what = self.mid(thing) if thing else gettext(deed.unnamed)
        place = self.place(command[1]) if known and len(command) > 1 else ""
        text = gettext(deed.robot if robot else deed.you)
        return joined(text.format(robot=robot, place=place, item=what, what=" ".join(command)))

    def refusal(self, reason: str, command: Command, busy: int = 0) -> str:
        """Why a command was not carried out, as a sentence; `busy` is how long its place still is."""
        place = self.place(command[1]) if len(command) > 1 else gettext("that place")
        item = self.mid(command[2]) if len(command) > 2 else gettext("that")
        text = sentence(reason, command[0] if command else "", busy)
        start = place[:1].upper() + place[1:]
        return joined(gettext(text).format(place=start, place_mid=place, item=item, wait=more_steps(busy)))

    def refusals(self, reasons: Iterable[str], command: Command, busy: int = 0) -> str:
        """The reasons that help, one sentence after the other."""
        return " ".join(self.refusal(reason, command, busy) for reason in telling(tuple(reasons)))


VERB_TITLES: dict[str, str] = {
    "get": marked("Take"),
    "put": marked("Put down"),
    "activate": marked("Use a tool"),
    "goto": marked("Go"),
    "noop": marked("Wait"),
}
"""Headings of the menu, in its order, to be looked up."""


class Deed(NamedTuple):
    """What was done, as it is told to who did it, and of a robot; and what is said of a thing that nobody can
    name."""

    you: str
    robot: str
    unnamed: str = ""


_IN_HAND = marked("what was in hand")
DID: Mapping[str, Deed] = {
    "goto": Deed(marked("You went to {place}"), marked("{robot} went to {place}")),
    "stay": Deed(marked("You stayed at {place}"), marked("{robot} stayed at {place}")),
    "get": Deed(
        marked("You took {item} from {place}"),
        marked("{robot} took {item} from {place}"),
        marked("what was there"),
    ),
    "put": Deed(marked("You put {item} into {place}"), marked("{robot} put {item} into {place}"), _IN_HAND),
    "lay": Deed(marked("You put {item} on {place}"), marked("{robot} put {item} on {place}"), _IN_HAND),
    "discard": Deed(marked("You threw {item} away"), marked("{robot} threw {item} away"), _IN_HAND),
    "activate": Deed(marked("You used {place}"), marked("{robot} used {place}")),
    "noop": Deed(marked("You waited"), marked("{robot} waited")),
    "": Deed(marked("You did “{what}”"), marked("{robot} did “{what}”")),
}
"""What was done, by the verb or what it came to."""
_WHAT_IS_THERE = marked("what is there")
TRIED: Mapping[str, Deed] = {
    "goto": Deed(marked("You wanted to go to {place}"), marked("{robot} wanted to go to {place}")),
    "get": Deed(
        marked("You wanted to take {item} from {place}"),
        marked("{robot} wanted to take {item} from {place}"),
        _WHAT_IS_THERE,
    ),
    "put": Deed(marked("You wanted to put it into {place}"), marked("{robot} wanted to put it into {place}")),
    "lay": Deed(marked("You wanted to put it on {place}"), marked("{robot} wanted to put it on {place}")),
    "discard": Deed(
        marked("You wanted to throw it away at storage"), marked("{robot} wanted to throw it away at storage")
    ),
    "activate": Deed(marked("You wanted to use {place}"), marked("{robot} wanted to use {place}")),
    "noop": Deed(marked("You wanted to wait one step"), marked("{robot} wanted to wait one step")),
    "": Deed(marked("You wanted to do “{what}”"), marked("{robot} wanted to do “{what}”")),
}
"""What was refused, likewise."""

_NEEDED = {"goto": 2, "get": 2, "put": 2, "activate": 2, "noop": 1}


def _complete(command: Command) -> bool:
    return len(command) >= _NEEDED.get(command[0] if command else "", 99)


def _deed(command: Command) -> str:
    """Under which a command stands in `DID` and `TRIED`."""
    if not _complete(command):
        return ""
    if command[0] != "put":
        return command[0]
    return "discard" if command[1].startswith("storage") else "lay" if _flat(command[1]) else "put"


def _unknown(command: Command) -> str:
    return gettext("Do “{what}”").format(what=" ".join(command)) if command else gettext("Do nothing")


def _get(words: Words, command: Command) -> str:
    what = words.mid(command[2]) if len(command) > 2 else gettext(_WHAT_IS_THERE)
    return gettext("Take {item} from {place}").format(item=what, place=words.place(command[1]))


def _put(words: Words, command: Command, holds: str | None) -> str:
    it, named = _PUTS[_deed(command)]
    text = gettext(named if holds else it)
    return text.format(place=words.place(command[1]), item=words.mid(holds) if holds else "")


_PUTS: Mapping[str, tuple[str, str]] = {
    "discard": (marked("Throw it away at storage"), marked("Throw {item} away at storage")),
    "lay": (marked("Put it on {place}"), marked("Put {item} on {place}")),
    "put": (marked("Put it into {place}"), marked("Put {item} into {place}")),
}
"""Without and with the thing that is put down."""


def _flat(place: str) -> bool:
    return place.startswith(("servingtable", "chopboard"))


_PHRASES: dict[str, Callable[[Words, Command], str]] = {
    "goto": lambda words, command: gettext("Go to {place}").format(place=words.place(command[1])),
    "get": _get,
    "activate": lambda words, command: gettext("Use {place}").format(place=words.place(command[1])),
    "noop": lambda words, command: gettext("Wait one step"),
}


def brief_words(brief: Mapping[str, Json]) -> Words:
    """The words of the kitchen that a brief describes."""
    return Words(brief.get("names"))
