"""Show the commands of Collab-Overcooked with pictures, and the many things to fetch as a pantry.

The pantry lists all ingredients by name, whether the recipe needs them or not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command, Json, canonical_json
from kitchen.pages.default_page import CommandChoice, CommandList
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.display_text import commands_words, thing_words
from kitchen.worlds.collab_overcooked.following_actions import following_actions
from kitchen.worlds.collab_overcooked.food_rules import DISH
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP
from kitchen.worlds.collab_overcooked.room_layout import DISPENSERS, PLACE_LETTERS

_TEMPLATES = "worlds/collab_overcooked"
FOODS, FURNITURE = f"{_TEMPLATES}/foods.svg", f"{_TEMPLATES}/collab_overcooked.svg"
"""The files with pictures of things, and of places."""
BOXES: Mapping[str, str] = {place: f"box-{letter}" for letter, place in PLACE_LETTERS.items()}
DELIVER = "deliver"


class PicturedChoice(NamedTuple):
    """One command in the menu with a picture. `name` is the short text of a thing in the pantry."""

    value: str
    text: str
    key: str
    anticipated: str
    name: str
    file: str
    picture: str
    then: tuple[str, ...] = ()
    """The commands that follow by themselves, as JSON."""
    then_text: str = ""


class MenuGroup(NamedTuple):
    """A group of commands with the same verb. The pantry is shown as a grid with a search field."""

    title: str
    key: str
    actions: tuple[str, ...]
    is_pantry: bool
    is_wait: bool = False
    """True for the group of waits, which is folded: the page has a button to wait for the teammate."""


class MenuGroups(NamedTuple):
    """The groups of commands that this seat can choose, as `CommandList` has them."""

    choosing: bool
    chosen: str
    groups: tuple[MenuGroup, ...]


def is_from_pantry(command: Command) -> bool:
    """Return whether a command fetches something from a dispenser."""
    return len(command) > 2 and command[2] in DISPENSERS


def in_pantry_order(commands: Iterable[Command]) -> list[Command]:
    """Return the commands in their order, those of the pantry by the names of what they fetch: the dish
    first, then ingredients by the alphabet without accents."""
    listed = list(commands)
    fetched = iter(sorted(filter(is_from_pantry, listed), key=_pantry_key))
    return [next(fetched) if is_from_pantry(command) else command for command in listed]


def _pantry_key(command: Command) -> tuple[bool, str]:
    name = unicodedata.normalize("NFKD", thing_words(command[1]).casefold())
    return command[1] != DISH, "".join(letter for letter in name if not unicodedata.combining(letter))


def picture_of(command: Command, holds: Json) -> tuple[str, str]:
    """Return (file, name) of the picture for a command: what is taken or put down, or the place that is
    used. Two empty texts if there is nothing to show."""
    verb, *arguments = command
    if verb == PICKUP:
        return FOODS, arguments[0]
    if verb == DELIVER:
        return FURNITURE, BOXES["serving"]
    if arguments and arguments[-1] in BOXES:
        return FURNITURE, BOXES[arguments[-1]]
    return (FOODS, str(holds)) if holds and verb == "place_obj_on_counter" else ("", "")


def pictured_choice(choice: Panel, command: Command, view: SeatView) -> Panel:
    """Return the panel of a command with its picture; unchanged if the command has an amount or no
    picture."""
    shows = choice.shows
    file, picture = picture_of(command, view.observation["players"][view.seat]["holds"])
    if not isinstance(shows, CommandChoice) or shows.least is not None or not picture:
        return choice
    name = sentence_case(thing_words(command[1])) if is_from_pantry(command) else ""
    after = following_actions(view, command)
    then = tuple(canonical_json(list(one)) for one in after)
    then_text = gettext("then: {actions}").format(actions=commands_words(after)) if after else ""
    pictured = PicturedChoice(
        shows.value, shows.text, shows.key, shows.anticipated, name, file, picture, then, then_text
    )
    return choice._replace(template=f"{_TEMPLATES}/menu_action.jinja", shows=pictured)


def with_pantry(actions: Panel, pantry: str, wait: str) -> Panel:
    """Return the panel of all actions, with the groups of these titles as the pantry and as the folded
    waits. The waits come last."""
    shows = cast(CommandList, actions.shows)
    made = [MenuGroup(*group, group.title == pantry, group.title == wait) for group in shows.groups]
    groups = tuple(sorted(made, key=lambda group: group.is_wait))
    shown = MenuGroups(shows.choosing, shows.chosen, groups)
    return actions._replace(template=f"{_TEMPLATES}/menu_actions.jinja", shows=shown)
