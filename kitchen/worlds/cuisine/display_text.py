"""Write names, commands, refusals and hints of CuisineWorld as text for participants, in their language.

Data and logs contain codes instead, such as `pot0` or `would_waste`. `BriefLookup` holds the names, letter
keys and pictures of one kitchen.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import current_language, gettext, ngettext, ngettext_noop, pgettext

SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "data" / "sentences.toml").read_text("utf-8")
)
"""The sentences that participants read, in English, by table and key."""


def translated(table: str, key: str) -> str:
    """Return the sentence in `SENTENCES[table][key]`, translated into the reader's language."""
    return gettext(SENTENCES[table][key])


def telling_reasons(reasons: Sequence[str]) -> list[str]:
    """Return the refusal reasons without those that tell the reader nothing new.

    If the robot is not at the place, reasons about the place are removed. If the place is full
    (`at_capacity`), `would_waste` is removed.
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
    """Return an English name made from a code: `pot0` gives `Pot 1`, `salmonSushi` gives `Salmon sushi`."""
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
    """Return the names as a list in a sentence: `a`, `a and b`, or `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    comma = pgettext("between the things of a list", ", ")
    return gettext("{things} and {last}").format(things=comma.join(parts[:-1]), last=parts[-1])


def steps_text(number: int) -> str:
    """Return the number of steps as text: `1 step` or `2 steps`."""
    return ngettext("{number} step", "{number} steps", number).format(number=number)


def more_steps_text(number: int) -> str:
    """Return the number of further steps as text: `1 more step` or `2 more steps`."""
    return ngettext("{number} more step", "{number} more steps", number).format(number=number)


_WHERE_WORDS_MEET = {"es": ((" a el ", " al "), (" de el ", " del "))}
"""Contractions of two adjacent words, by language."""


def join_sentence(sentence: str) -> str:
    """Return the sentence with the contractions of the reader's language, such as `al` for `a el` in
    Spanish."""
    for apart, together in _WHERE_WORDS_MEET.get(current_language(), ()):
        sentence = sentence.replace(apart, together)
    return sentence


def place_catalogue_key(name: str, *, several: bool) -> str:
    """Return the English text by which translation files list a place within a sentence: `the blender`, `pot
    {number}`, `storage`.

    `several` is True if the kitchen has more than one place of this type.
    """
    if several:
        return f"{name_in_sentence(name)} {{number}}"
    return name_in_sentence(name) if name == "Storage" else f"the {name_in_sentence(name)}"


class KitchenWords:
    """The texts of one kitchen. Names come from its brief (the unchanging facts of the kitchen). A code
    without a name there is made readable."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = names or {}

    def name(self, code: str) -> str:
        """Return the name of a place or item as it is written on its own, for example in a table: `Pot 1`,
        `Salmon sushi`."""
        name, number = self._apart(code)
        if not number:
            return gettext(name)
        return pgettext("one of several", "{name} {number}").format(name=gettext(name), number=number)

    def english(self, code: str) -> str:
        """Return the English name of this code, by which translation files list it."""
        return self.names.get(code) or readable_name(code)

    def _apart(self, code: str) -> tuple[str, str]:
        """Split the English name of a place or item into name and number. The number is empty if there is
        none."""
        name = self.english(code)
        numbered = _NUMBERED.match(name)
        return (numbered[1], numbered[2]) if numbered else (name, "")

    def mid(self, code: str) -> str:
        """Return the name for the middle of a sentence: `pot 1`, `salmon sushi`."""
        return name_in_sentence(self.name(code))

    def place(self, code: str) -> str:
        """Return the place's name for the middle of a sentence: `pot 1`, `storage`, or `the blender` if
        there is only one."""
        name, number = self._apart(code)
        within_a_sentence = place_catalogue_key(name, several=bool(number))
        return pgettext("within a sentence", within_a_sentence).format(number=number)

    def items(self, codes: Iterable[str]) -> str:
        """Return the names of several items as a list in a sentence: `rice and salmon`."""
        return list_names([self.mid(code) for code in codes])

    def phrase(self, command: Command, holds: str | None = None) -> str:
        """Return a command as text, such as `Take rice from storage`.

        `holds` is the item that the robot holds. The text for a put command then names it.
        """
        if not command:
            return gettext("Do nothing")
        deed = _deed(command)
        if holds and deed in SENTENCES["named_phrases"]:
            return self._filled("named_phrases", deed, command, holds)
        return self._filled("phrases", deed, command)

    def did(self, command: Command, item: str | None = None, *, robot: str = "", stayed: bool = False) -> str:
        """Return a sentence about a command that was carried out, such as `You took rice`.

        `item` is the item that the robot held. `robot` is the name of another robot, empty for the reader's
        own. `stayed` is True if the robot was already at the place.
        """
        deed = "stay" if stayed else _deed(command)
        return self._filled("robot_did" if robot else "you_did", deed, command, item, robot)

    def attempted(self, command: Command, robot: str = "") -> str:
        """Return a sentence about a refused command, such as `You wanted to use pot 1`.

        `robot` is the name of another robot, empty for the reader's own.
        """
        return self._filled("robot_tried" if robot else "you_tried", _deed(command), command, robot=robot)

    def _filled(
        self, table: str, deed: str, command: Command, item: str | None = None, robot: str = ""
    ) -> str:
        """Return a sentence about a command, from the sentences in `table` under the key `deed`. `item` is
        used if the command names no item. `robot` is the name of another robot."""
        known = _complete(command)
        thing = command[2] if known and len(command) > 2 else item
        unnamed = SENTENCES["unnamed_then" if table.endswith("_did") else "unnamed_now"].get(deed, "")
        what = self.mid(thing) if thing else gettext(unnamed)
        place = self.place(command[1]) if known and len(command) > 1 else ""
        text = translated(table, deed)
        return join_sentence(text.format(robot=robot, place=place, item=what, what=" ".join(command)))

    def onward(self, command: Command, item: str) -> str:
        """Return the text of going to another place and acting there: `Go and put rice into pot 1`. `item` is
        what the command takes, puts or makes."""
        deed = "fetch" if command[1].startswith("storage") else _deed(command)
        deed = "serve" if command[1].startswith("servingtable") else deed
        return self._acted(
            "onward", "serve" if command[1].startswith("servingtable") else deed, command, item
        )

    def made(self, place: str, item: str, *, goes: bool, takes: bool) -> str:
        """Return the text of putting an item into a tool and using it: `Go and make cooked rice in pot 1`.
        `item` is the product. The robot can go there first (`goes`), and take the product at last
        (`takes`)."""
        deed = f"{_deed(('put', place))}_and_take" if takes else _deed(("put", place))
        return self._acted("go_and_make" if goes else "make_here", deed, ("put", place), item)

    def _acted(self, table: str, deed: str, command: Command, item: str) -> str:
        text = translated(table, deed)
        return join_sentence(text.format(place=self.place(command[1]), item=self.mid(item)))

    def refusal(self, reason: str, command: Command, busy: int = 0) -> str:
        """Return a sentence that explains this refusal code. `busy` is the number of steps for which the
        place stays busy."""
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
        """Return sentences that explain a refusal, one for each reason. Reasons that tell the reader nothing
        new are left out (`telling_reasons`)."""
        return " ".join(self.refusal(reason, command, busy) for reason in telling_reasons(tuple(reasons)))


_NEEDED = {"goto": 2, "get": 2, "put": 2, "activate": 2, "noop": 1}


def _complete(command: Command) -> bool:
    return len(command) >= _NEEDED.get(command[0] if command else "", 99)


def _deed(command: Command) -> str:
    """Return the key of a command in the tables of sentences. It is the verb; for `put` it is `put`, `lay` or
    `discard`, depending on the place. An incomplete command has the key `other`."""
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


def hint_text(view: SeatView, command: Command, aim: Mapping[str, str], product: str = "") -> str:
    """Return a hint for the reader, such as `Try this: go to storage to fetch rice for the salmon sushi.`

    `aim` is the purpose of the command, with the keys of `Advice.aim`. `product` is what the tool makes of
    the item if the menu offers to bring it and to use the tool with one choice.
    """
    words, to = KitchenWords(view.brief.get("names")), aim["to"]
    busy = view.observation["locations"][to]["busy"]
    does = "make" if product else aim["do"]
    text = SENTENCES["hints_there" if command[0] == "goto" else "hints_here"][does]
    if command[0] == "put" and to.startswith("chopboard") and not product:
        text = SENTENCES["hints_on_board"].get(aim["do"], text)
    waits = aim["do"] == "wait" and command[0] == "noop" and busy
    hint = ngettext(*_HINT_STILL_BUSY, busy) if waits else gettext(text)
    return join_sentence(
        hint.format(
            place=words.place(to),
            item=words.mid(aim.get("item", "")),
            dish=words.mid(aim.get("dish", "")),
            product=words.mid(product),
            number=busy,
        )
    )


PLACE_KEYS = {
    "storage": "s",
    "servingtable": "v",
    "chopboard": "c",
    "blender": "b",
    "pan": "a",
    "fryer": "f",
    "mixer": "m",
    "pot": "o",
    "steamer": "e",
    "oven": "n",
}
"""The key goes to a place of this kind; pressed again, to the next such place."""
VERB_KEYS = {"get": "t", "put": "p", "activate": "u", "noop": "w", "orders": "d"}
"""The key chooses an action of this kind; pressing the key for taking again moves to the next item."""
THROW_AWAY_KEY = "x"
ITEM_KEYS = "1234567890"
"""Keys that take the first item, the second, …"""


def key_of(command: Command, kind: str, number: int = 0) -> str:
    """Return the keyboard key for a command; empty if it has none.

    `kind` is the kind of the place. For a get command, `number` is the item's index in the list of items
    to take, counted from 0.
    """
    verb = command[0]
    if verb == "goto":
        return PLACE_KEYS.get(kind, "")
    if verb == "get":
        return ITEM_KEYS[number : number + 1]
    return THROW_AWAY_KEY if verb == "put" and kind == "storage" else VERB_KEYS.get(verb, "")


def key_explanations(kinds: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return (key, meaning) for every keyboard key of a kitchen. `kinds` are (code, name) of the kinds of
    places."""
    known = ((PLACE_KEYS[kind], name) for kind, name in kinds if kind in PLACE_KEYS)
    keys = [
        *((key, gettext("Go: {place}").format(place=name)) for key, name in known),
        (VERB_KEYS["get"], gettext("Take something; press again for the next thing")),
        (f"{ITEM_KEYS[0]} … {ITEM_KEYS[8]}", gettext("Take the first thing, the second, and so on")),
        (VERB_KEYS["put"], gettext("Put down what you hold")),
        (THROW_AWAY_KEY, gettext("Throw away what you hold, at storage")),
        (VERB_KEYS["activate"], gettext("Use the tool where you are")),
        (VERB_KEYS["noop"], gettext("Wait one step")),
    ]
    return [(key.upper(), meaning) for key, meaning in keys]


ProductLine = tuple[str, str, tuple[str, ...]]
"""A product, its tool and its ingredients."""
MAX_KNOWN_BRIEFS = 64
"""Number of briefs in the cache; each takes some ten kilobytes."""


class ShownItem(NamedTuple):
    """The picture and the name with which an item, a tool or a place is shown."""

    icon: str
    name: str


class BriefLookup:
    """The brief of a kitchen (its unchanging facts) with texts, recipes and keys computed from it. Do not
    change it."""

    def __init__(self, brief: Mapping[str, Json]) -> None:
        self.brief = brief
        self.words = KitchenWords(brief.get("names"))

    def shown(self, item: str) -> ShownItem:
        """Return the picture and the name of an item."""
        return ShownItem(picture_of(item), self.words.name(item))

    @cached_property
    def wanted(self) -> dict[str, int]:
        """Return the base ingredients that the level's recipes need. Each has its position in the order of
        the recipes, counted from 0."""
        recipes = self.brief["recipes"]
        used = dict.fromkeys(item for recipe in recipes.values() for item in recipe["ingredients"])
        return {item: place for place, item in enumerate(item for item in used if item not in recipes)}

    @cached_property
    def keys(self) -> dict[str, str]:
        """Return the keyboard key that goes to each place. Places of the same kind share a key."""
        return {place: PLACE_KEYS.get(kind, "") for place, kind in self.brief["locations"].items()}

    @cached_property
    def room(self) -> int:
        """Return the largest number of items that can be offered at once. The menu reserves this many rows
        for get commands."""
        recipes = self.brief["recipes"].values()
        return max(len(self.wanted), *(len(set(recipe["ingredients"])) for recipe in recipes))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return each dish's position in the brief (the unchanging facts of the episode), counted from 0."""
        return {dish: number for number, dish in enumerate(self.brief["dishes"])}

    @cached_property
    def recipes(self) -> dict[str, tuple[ProductLine, ...]]:
        """Return for each dish the lines of its recipe as (product, tool, ingredients). The line of the
        dish comes first, then the lines of its intermediate products."""
        return {dish: tuple(self._products(dish)) for dish in self.brief["dishes"]}

    def _products(self, product: str) -> list[ProductLine]:
        if not (recipe := self.brief["recipes"].get(product)):
            return []
        own = (product, recipe["tool"], tuple(recipe["ingredients"]))
        return [own, *(below for item in recipe["ingredients"] for below in self._products(item))]


def product_from(brief: Mapping[str, Json], tool: str, items: Iterable[str]) -> str:
    """Return the product that this kind of tool makes of exactly these items; empty if no recipe of the
    level fits."""
    wanted = sorted(items)
    for product, recipe in brief["recipes"].items():
        if recipe["tool"] == tool and sorted(recipe["ingredients"]) == wanted:
            return str(product)
    return ""


def brief_lookup(brief: Mapping[str, Json]) -> BriefLookup:
    """Return the texts, recipes and keys computed from this brief (the unchanging facts of the episode).
    Equal briefs in the same language share one cached object."""
    return _known(json.dumps(brief), current_language())


@lru_cache(maxsize=MAX_KNOWN_BRIEFS)
def _known(brief: str, spoken: str) -> BriefLookup:
    return BriefLookup(json.loads(brief))


_FILE = Path(__file__).parent / "static/worlds/cuisine/pictures.svg"
DEFAULT_PICTURE = "plate"
"""Picture of items without one, for example from a researcher's own catalogue."""


def picture_of(item: str) -> str:
    """Return the name of the item's picture; DEFAULT_PICTURE if it has none."""
    return item if item in picture_names() else DEFAULT_PICTURE


@cache
def picture_names() -> frozenset[str]:
    """Return the names of all pictures in `pictures.svg`."""
    return frozenset(re.findall(r'<symbol id="([A-Za-z]+)"', _FILE.read_text("utf-8")))
