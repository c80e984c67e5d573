"""Name codes, commands, refusals and hints in words for participants, in their language.

Codes such as `pot0` or `would_waste` stay in the data. Plain Python, no Django.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command
from kitchen.words.translation import (
    current_language,
    gettext,
    gettext_noop,
    ngettext,
    ngettext_noop,
    pgettext,
)


def telling_reasons(reasons: Sequence[str]) -> list[str]:
    """Return the reasons without those that add nothing.

    If the robot is not at the place, reasons about the place add nothing. If the place is full, `would_waste`
    adds nothing.
    """
    if "not_at_location" in reasons:
        return [reason for reason in reasons if reason not in _OF_PLACE]
    return [reason for reason in reasons if reason != "would_waste" or "at_capacity" not in reasons]


_OF_PLACE = frozenset(("location_busy", "not_open", "empty", "would_waste", "at_capacity", "not_a_dish_here"))


REFUSAL_SENTENCES: dict[str, str] = {
    "not_at_location": gettext_noop("{place} was too far away: go there first."),
    "agent_busy": gettext_noop("The robot's hands were still busy with a tool."),
    "hands_full": gettext_noop("The robot was already holding something."),
    "hands_empty": gettext_noop("The robot was not holding anything."),
    "location_busy": gettext_noop("{place} was still busy."),
    "not_open": gettext_noop("{place} was closed: it opens once it has been used and a product is inside."),
    "empty": gettext_noop("There was nothing at {place_mid}."),
    "not_base_ingredient": gettext_noop("Storage does not stock {item}: it has to be cooked."),
    "not_a_dish_here": gettext_noop("Only dishes that guests order here go on {place_mid}."),
    "would_waste": gettext_noop("It does not go with {place_mid} now: nothing on the menu would come of it."),
    "at_capacity": gettext_noop("{place} was full."),
    "unknown_agent": gettext_noop("There is no such robot in this kitchen."),
    "unknown_location": gettext_noop("There is no such place in this kitchen."),
    "unknown_item": gettext_noop("There is no such item in this kitchen."),
    "unknown_verb": gettext_noop("Robots do not know how to do that."),
    "wrong_arguments": gettext_noop("The command was not complete."),
    "duplicate_agent": gettext_noop("The robot had already been given a command in this step."),
}
"""Why a command was refused, by reason code. `{place}` begins a sentence, `{place_mid}` is within one."""
_REFUSALS_OF = {
    ("would_waste", "activate"): gettext_noop("What is inside {place_mid} is no complete recipe yet."),
    ("unknown_item", "get"): gettext_noop("There was no {item} at {place_mid}."),
}
_STILL_BUSY = gettext_noop("{place} was still busy ({wait}).")
_JUST_THEN = gettext_noop("It was not possible just then.")


def sentence(reason: str, verb: str, busy: int) -> str:
    """Return the untranslated reason of a refusal; `busy` is how many more steps the place is busy."""
    if reason == "location_busy" and busy:
        return _STILL_BUSY
    return _REFUSALS_OF.get((reason, verb)) or REFUSAL_SENTENCES.get(reason, _JUST_THEN)


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


def readable_name(code: str) -> str:
    """Return a name for a code without one: `pot0` is `Pot 1`, `salmonSushi` is `Salmon sushi`."""
    if code in _SPELLED:
        return _SPELLED[code]
    numbered = _INSTANCE.match(code)
    if numbered:
        return f"{readable_name(numbered[1])} {int(numbered[2]) + 1}"
    words = _HUMP.sub(" ", code.replace("_", " ")).lower()
    return words[:1].upper() + words[1:]


def name_in_sentence(name: str) -> str:
    """Return a name as it is written within a sentence: `Salmon sushi` becomes `salmon sushi`."""
    if name.startswith(_KEEP_CAPITAL):
        return name
    return name[:1].lower() + name[1:]


def list_names(parts: Sequence[str]) -> str:
    """Return a list in words: `a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    comma = pgettext("between the things of a list", ", ")
    return gettext("{things} and {last}").format(things=comma.join(parts[:-1]), last=parts[-1])


def steps_text(number: int) -> str:
    """Return `1 step`, `2 steps`."""
    return ngettext("{number} step", "{number} steps", number).format(number=number)


def more_steps_text(number: int) -> str:
    """Return `1 more step`, `2 more steps`."""
    return ngettext("{number} more step", "{number} more steps", number).format(number=number)


_WHERE_WORDS_MEET = {"es": ((" a el ", " al "), (" de el ", " del "))}
"""Contractions of two adjacent words, by language."""


def join_sentence(sentence: str) -> str:
    """Return a sentence made of a place and an action, with contractions applied."""
    for apart, together in _WHERE_WORDS_MEET.get(current_language(), ()):
        sentence = sentence.replace(apart, together)
    return sentence


def place_catalogue_key(name: str, *, several: bool) -> str:
    """Return the catalogue key of a place within a sentence: `the blender`, `pot {number}`, `storage`."""
    if several:
        return f"{name_in_sentence(name)} {{number}}"
    return name_in_sentence(name) if name == "Storage" else f"the {name_in_sentence(name)}"


class KitchenWords:
    """The words of one kitchen: names from its brief, all other names derived from the code."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = names or {}

    def name(self, code: str) -> str:
        """Return the name as it is written alone: `Pot 1`, `Salmon sushi`."""
        name, number = self._apart(code)
        if not number:
            return gettext(name)
        return pgettext("one of several", "{name} {number}").format(name=gettext(name), number=number)

    def english(self, code: str) -> str:
        """Return the untranslated English name, the key of the translation catalogues."""
        return self.names.get(code) or readable_name(code)

    def _apart(self, code: str) -> tuple[str, str]:
        """Return the English name and its number; the number is empty if there is only one."""
        name = self.english(code)
        numbered = _NUMBERED.match(name)
        return (numbered[1], numbered[2]) if numbered else (name, "")

    def mid(self, code: str) -> str:
        """Return the name as it is written within a sentence: `pot 1`, `salmon sushi`."""
        return name_in_sentence(self.name(code))

    def place(self, code: str) -> str:
        """Return a place within a sentence: `pot 1`, `the blender` if there is only one, `storage`."""
        name, number = self._apart(code)
        within_a_sentence = place_catalogue_key(name, several=bool(number))
        return pgettext("within a sentence", within_a_sentence).format(number=number)

    def items(self, codes: Iterable[str]) -> str:
        """Return several items in one phrase, within a sentence."""
        return list_names([self.mid(code) for code in codes])

    def phrase(self, command: Command, holds: str | None = None) -> str:
        """Return any command in words: `Take rice from storage`. A put names the item it `holds`."""
        if not command:
            return gettext("Do nothing")
        it, named = _PHRASES[_deed(command)]
        return self._filled(named if holds else it, command, holds, _WHAT_IS_THERE)

    def did(self, command: Command, item: str | None = None, *, robot: str = "", stayed: bool = False) -> str:
        """Return a command that was carried out, such as `You took rice`, by the reader or by `robot`.

        `item` is the item that was in the hands. `stayed` says that the robot was at the place already.
        """
        deed = "stay" if stayed else _deed(command)
        return self._deed_sentence(DONE_SENTENCES[deed], command, item, robot)

    def tried(self, command: Command, robot: str = "") -> str:
        """Return a refused command, such as `You wanted to use pot 1`."""
        return self._deed_sentence(TRIED_SENTENCES[_deed(command)], command, None, robot)

    def _deed_sentence(self, deed: DeedSentences, command: Command, item: str | None, robot: str) -> str:
        return self._filled(deed.robot if robot else deed.you, command, item, deed.unnamed, robot)

    def _filled(self, text: str, command: Command, item: str | None, unnamed: str, robot: str = "") -> str:
        """Return a translated sentence about a command, with its place and item; `item` if it names none."""
        known = _complete(command)
        thing = command[2] if known and len(command) > 2 else item
        what = self.mid(thing) if thing else gettext(unnamed)
        place = self.place(command[1]) if known and len(command) > 1 else ""
        told = gettext(text).format(robot=robot, place=place, item=what, what=" ".join(command))
        return join_sentence(told)

    def refusal(self, reason: str, command: Command, busy: int = 0) -> str:
        """Return why a command was not carried out; `busy` is how many steps its place still is busy."""
        place = self.place(command[1]) if len(command) > 1 else gettext("that place")
        item = self.mid(command[2]) if len(command) > 2 else gettext("that")
        text = sentence(reason, command[0] if command else "", busy)
        start = place[:1].upper() + place[1:]
        return join_sentence(
            gettext(text).format(place=start, place_mid=place, item=item, wait=more_steps_text(busy))
        )

    def refusals(self, reasons: Iterable[str], command: Command, busy: int = 0) -> str:
        """Return the reasons that help, one sentence after the other."""
        return " ".join(self.refusal(reason, command, busy) for reason in telling_reasons(tuple(reasons)))


VERB_TITLES: dict[str, str] = {
    "get": gettext_noop("Take"),
    "put": gettext_noop("Put down"),
    "activate": gettext_noop("Use a tool"),
    "goto": gettext_noop("Go"),
    "noop": gettext_noop("Wait"),
}
"""Headings of the menu, in its order, to be translated."""


class DeedSentences(NamedTuple):
    """Sentences for a deed: by the reader, by a robot, and with an unnamed item."""

    you: str
    robot: str
    unnamed: str = ""


_IN_HAND = gettext_noop("what was in hand")
DONE_SENTENCES: Mapping[str, DeedSentences] = {
    "goto": DeedSentences(gettext_noop("You went to {place}"), gettext_noop("{robot} went to {place}")),
    "stay": DeedSentences(gettext_noop("You stayed at {place}"), gettext_noop("{robot} stayed at {place}")),
    "get": DeedSentences(
        gettext_noop("You took {item} from {place}"),
        gettext_noop("{robot} took {item} from {place}"),
        gettext_noop("what was there"),
    ),
    "put": DeedSentences(
        gettext_noop("You put {item} into {place}"), gettext_noop("{robot} put {item} into {place}"), _IN_HAND
    ),
    "lay": DeedSentences(
        gettext_noop("You put {item} on {place}"), gettext_noop("{robot} put {item} on {place}"), _IN_HAND
    ),
    "discard": DeedSentences(
        gettext_noop("You threw {item} away"), gettext_noop("{robot} threw {item} away"), _IN_HAND
    ),
    "activate": DeedSentences(gettext_noop("You used {place}"), gettext_noop("{robot} used {place}")),
    "noop": DeedSentences(gettext_noop("You waited"), gettext_noop("{robot} waited")),
    "": DeedSentences(gettext_noop("You did “{what}”"), gettext_noop("{robot} did “{what}”")),
}
"""Sentences for what was done, by verb or result."""
_WHAT_IS_THERE = gettext_noop("what is there")
TRIED_SENTENCES: Mapping[str, DeedSentences] = {
    "goto": DeedSentences(
        gettext_noop("You wanted to go to {place}"), gettext_noop("{robot} wanted to go to {place}")
    ),
    "get": DeedSentences(
        gettext_noop("You wanted to take {item} from {place}"),
        gettext_noop("{robot} wanted to take {item} from {place}"),
        _WHAT_IS_THERE,
    ),
    "put": DeedSentences(
        gettext_noop("You wanted to put it into {place}"),
        gettext_noop("{robot} wanted to put it into {place}"),
    ),
    "lay": DeedSentences(
        gettext_noop("You wanted to put it on {place}"), gettext_noop("{robot} wanted to put it on {place}")
    ),
    "discard": DeedSentences(
        gettext_noop("You wanted to throw it away at storage"),
        gettext_noop("{robot} wanted to throw it away at storage"),
    ),
    "activate": DeedSentences(
        gettext_noop("You wanted to use {place}"), gettext_noop("{robot} wanted to use {place}")
    ),
    "noop": DeedSentences(
        gettext_noop("You wanted to wait one step"), gettext_noop("{robot} wanted to wait one step")
    ),
    "": DeedSentences(
        gettext_noop("You wanted to do “{what}”"), gettext_noop("{robot} wanted to do “{what}”")
    ),
}
"""Sentences for what was refused, by verb."""

_NEEDED = {"goto": 2, "get": 2, "put": 2, "activate": 2, "noop": 1}


def _complete(command: Command) -> bool:
    return len(command) >= _NEEDED.get(command[0] if command else "", 99)


def _deed(command: Command) -> str:
    """Return the key of a command in `DONE_SENTENCES` and `TRIED_SENTENCES`."""
    if not _complete(command):
        return ""
    if command[0] != "put":
        return command[0]
    flat = command[1].startswith(("servingtable", "chopboard"))
    return "discard" if command[1].startswith("storage") else "lay" if flat else "put"


_PHRASES: Mapping[str, tuple[str, str]] = {
    "goto": (gettext_noop("Go to {place}"),) * 2,
    "get": (gettext_noop("Take {item} from {place}"),) * 2,
    "activate": (gettext_noop("Use {place}"),) * 2,
    "noop": (gettext_noop("Wait one step"),) * 2,
    "": (gettext_noop("Do “{what}”"),) * 2,
    "discard": (gettext_noop("Throw it away at storage"), gettext_noop("Throw {item} away at storage")),
    "lay": (gettext_noop("Put it on {place}"), gettext_noop("Put {item} on {place}")),
    "put": (gettext_noop("Put it into {place}"), gettext_noop("Put {item} into {place}")),
}
"""Phrases for a command, by verb or result: without and with the item that a put names."""


_GO: Mapping[str, str] = {
    "fetch": gettext_noop("Try this: go to {place} to fetch {item} for the {dish}."),
    "take": gettext_noop("Try this: go to {place}, where the {item} is ready."),
    "bring": gettext_noop("Try this: go to {place} with the {item}."),
    "start": gettext_noop("Try this: go to {place} and use it: all that the {item} needs is inside."),
    "serve": gettext_noop("Try this: go to {place} with the {item}: a guest waits for it."),
    "stock": gettext_noop("Try this: go to {place} with the {item}: a guest may order it later."),
    "discard": gettext_noop("Try this: go to {place} to throw the {item} away: it is of no use now."),
    "clear": gettext_noop("Try this: go to {place} and take the {item} out: the {dish} needs the room."),
    "wait": gettext_noop("Try this: go to {place} and wait there until it is ready."),
}
"""Hints for a robot that is elsewhere, by what it should do at the place."""
_DO: Mapping[str, str] = {
    "fetch": gettext_noop("Try this: take {item} for the {dish}."),
    "take": gettext_noop("Try this: take the {item} out of {place}: it is ready."),
    "bring": gettext_noop("Try this: put the {item} into {place}."),
    "start": gettext_noop("Try this: use {place}: all that the {item} needs is inside."),
    "serve": gettext_noop("Try this: put the {item} on {place}: a guest waits for it."),
    "stock": gettext_noop("Try this: put the {item} on {place}: a guest may order it later."),
    "discard": gettext_noop("Try this: throw the {item} away: it is of no use now."),
    "clear": gettext_noop("Try this: take the {item} out of {place}: the {dish} needs the room."),
    "wait": gettext_noop("Try this: wait one step."),
}
"""Hints for a robot that is already at the place."""
HINT_AIMS = tuple(_DO)
"""Every kind of aim that a hint can have."""
_ON_BOARD = gettext_noop("Try this: put the {item} on {place}.")
_HINT_STILL_BUSY = ngettext_noop(
    "Try this: wait one step; {place} needs {number} step more.",
    "Try this: wait one step; {place} needs {number} steps more.",
)


def hint_text(view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
    """Return a hint, such as `Try this: go to storage to fetch rice for the salmon sushi.`"""
    words, to = KitchenWords(view.brief.get("names")), aim["to"]
    busy = view.observation["locations"][to]["busy"]
    text = (_GO if command[0] == "goto" else _DO)[aim["do"]]
    if aim["do"] == "bring" and command[0] == "put" and to.startswith("chopboard"):
        text = _ON_BOARD
    waits = aim["do"] == "wait" and command[0] == "noop" and busy
    told = ngettext(*_HINT_STILL_BUSY, busy) if waits else gettext(text)
    return join_sentence(
        told.format(
            place=words.place(to),
            item=words.mid(aim.get("item", "")),
            dish=words.mid(aim.get("dish", "")),
            number=busy,
        )
    )
