"""Name codes, commands, refusals and hints in words for participants, in their language.

Codes such as `pot0` or `would_waste` stay in the data. Plain Python, no Django.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command
from kitchen.words.gettext_without_django import current_language, gettext, ngettext, ngettext_noop, pgettext

SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "data" / "sentences.toml").read_text("utf-8")
)
"""The sentences that participants read, in English, by table and key."""


def translated(table: str, key: str) -> str:
    """Return a sentence of `SENTENCES` in the reader's language."""
    return gettext(SENTENCES[table][key])


def telling_reasons(reasons: Sequence[str]) -> list[str]:
    """Return the reasons without those that add nothing.

    If the robot is not at the place, reasons about the place add nothing. If the place is full, `would_waste`
    adds nothing.
    """
    if "not_at_location" in reasons:
        return [reason for reason in reasons if reason not in _OF_PLACE]
    return [reason for reason in reasons if reason != "would_waste" or "at_capacity" not in reasons]


_OF_PLACE = frozenset(("location_busy", "not_open", "empty", "would_waste", "at_capacity", "not_a_dish_here"))


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
        deed = _deed(command)
        if holds and deed in SENTENCES["named_phrases"]:
            return self._filled("named_phrases", deed, command, holds)
        return self._filled("phrases", deed, command)

    def did(self, command: Command, item: str | None = None, *, robot: str = "", stayed: bool = False) -> str:
        """Return a command that was carried out, such as `You took rice`, by the reader or by `robot`.

        `item` is the item that was in the hands. `stayed` says that the robot was at the place already.
        """
        deed = "stay" if stayed else _deed(command)
        return self._filled("robot_did" if robot else "you_did", deed, command, item, robot)

    def attempted(self, command: Command, robot: str = "") -> str:
        """Return a refused command, such as `You wanted to use pot 1`."""
        return self._filled("robot_tried" if robot else "you_tried", _deed(command), command, robot=robot)

    def _filled(
        self, table: str, deed: str, command: Command, item: str | None = None, robot: str = ""
    ) -> str:
        """Return the sentence of a table about a command; `item` is its item if the command names none."""
        known = _complete(command)
        thing = command[2] if known and len(command) > 2 else item
        unnamed = SENTENCES["unnamed_then" if table.endswith("_did") else "unnamed_now"].get(deed, "")
        what = self.mid(thing) if thing else gettext(unnamed)
        place = self.place(command[1]) if known and len(command) > 1 else ""
        text = translated(table, deed)
        return join_sentence(text.format(robot=robot, place=place, item=what, what=" ".join(command)))

    def refusal(self, reason: str, command: Command, busy: int = 0) -> str:
        """Return why a command was not carried out; `busy` is how many steps its place still is busy."""
        place = self.place(command[1]) if len(command) > 1 else gettext("that place")
        item = self.mid(command[2]) if len(command) > 2 else gettext("that")
        special = f"{reason} {command[0] if command else ''}"
        if reason == "location_busy" and busy:
            special = "still_busy"
        if special in SENTENCES["refusals_of"]:
            text = translated("refusals_of", special)
        else:
            text = translated("refusals", reason if reason in SENTENCES["refusals"] else "unknown")
        start, wait = place[:1].upper() + place[1:], more_steps_text(busy)
        return join_sentence(text.format(place=start, place_mid=place, item=item, wait=wait))

    def refusals(self, reasons: Iterable[str], command: Command, busy: int = 0) -> str:
        """Return the reasons that help, one sentence after the other."""
        return " ".join(self.refusal(reason, command, busy) for reason in telling_reasons(tuple(reasons)))


_NEEDED = {"goto": 2, "get": 2, "put": 2, "activate": 2, "noop": 1}


def _complete(command: Command) -> bool:
    return len(command) >= _NEEDED.get(command[0] if command else "", 99)


def _deed(command: Command) -> str:
    """Return the key of a command in the tables of sentences."""
    if not _complete(command):
        return "other"
    if command[0] != "put":
        return command[0]
    flat = command[1].startswith(("servingtable", "chopboard"))
    return "discard" if command[1].startswith("storage") else "lay" if flat else "put"


_HINT_STILL_BUSY = ngettext_noop(
    "Try this: wait one step; {place} needs {number} step more.",
    "Try this: wait one step; {place} needs {number} steps more.",
)


def hint_text(view: SeatView, command: Command, aim: Mapping[str, str]) -> str:
    """Return a hint, such as `Try this: go to storage to fetch rice for the salmon sushi.`"""
    words, to = KitchenWords(view.brief.get("names")), aim["to"]
    busy = view.observation["locations"][to]["busy"]
    text = SENTENCES["hints_there" if command[0] == "goto" else "hints_here"][aim["do"]]
    if command[0] == "put" and to.startswith("chopboard"):
        text = SENTENCES["hints_on_board"].get(aim["do"], text)
    waits = aim["do"] == "wait" and command[0] == "noop" and busy
    hint = ngettext(*_HINT_STILL_BUSY, busy) if waits else gettext(text)
    return join_sentence(
        hint.format(
            place=words.place(to),
            item=words.mid(aim.get("item", "")),
            dish=words.mid(aim.get("dish", "")),
            number=busy,
        )
    )
