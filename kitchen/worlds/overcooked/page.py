"""The grids in a browser: what this world's page has beside that of any grid. Plain Python, no Django.

Everything here follows from the `SeatView` alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Command, Json
from kitchen.pages.default_page import Make
from kitchen.pages.grid_page import FLOOR, GridPage, Look
from kitchen.pages.step_history import history_panel, spoken_panel
from kitchen.words.speech import gettext, marked, read_later
from kitchen.worlds.overcooked.ahead import ahead
from kitchen.worlds.overcooked.handbook import handbook
from kitchen.worlds.overcooked.intents import intents
from kitchen.worlds.overcooked.layout import COUNTER, POT
from kitchen.worlds.overcooked.menu import use
from kitchen.worlds.overcooked.orders import orders, score
from kitchen.worlds.overcooked.script_words import script_words
from kitchen.worlds.overcooked.story import WHY, past
from kitchen.worlds.overcooked.words import FURNITURE, THINGS, phrase, pot, thing

_TEMPLATES = "worlds/overcooked"


def _look(letter: str) -> Look:
    name = FURNITURE[letter]
    if letter in (FLOOR, COUNTER):
        return Look(name, walkable=letter == FLOOR)
    return Look(name, picture=f"box-{letter}", lettered=True, empty=marked("empty") if letter == POT else "")


class OvercookedPage(GridPage):
    """The grid, and beside it what is ordered and what the others are about to do."""

    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    styles = (*GridPage.styles, f"{_TEMPLATES}/overcooked.css")
    scripts = (
        "js/pressing.js",
        f"{_TEMPLATES}/board.js",
        f"{_TEMPLATES}/words.js",
        "js/grid.js",
        "js/grid_words.js",
    )
    pictures = f"{_TEMPLATES}/overcooked.svg"
    looks = {letter: _look(letter) for letter in FURNITURE}
    layers = ("pots", "counters")
    names = THINGS
    reasons = WHY
    title = read_later("The soup kitchen")
    body = read_later("cook")
    if_possible = read_later("if the other cook makes it possible")
    first_steps = (
        marked("Your cook has a ring around it. Arrow keys or the buttons move it."),
        marked("Turn to what you want to use, and press space."),
    )
    aim = read_later("Practice ends when a soup has been delivered, or after {steps} steps.")
    missed = read_later("The time is over, and no soup was delivered yet. That is all right.")

    def makers(self, view: SeatView) -> tuple[Make, ...]:
        """Orders instead of other facts; what the others will do where the page says so."""
        ours: list[Make] = []
        for make in super().makers(view):
            ours.append(orders if make == self.facts else make)
            if make == self.grid and view.shows_intents:
                ours.insert(-1, intents)
        return tuple(ours)

    def score(self, view: SeatView) -> Panel:
        """Points, soups, ticks left."""
        return score(view)

    def story(self, view: SeatView) -> Panel:
        """The last ticks, newest first."""
        return history_panel(view, lambda step: past(step, view))

    def spoken(self, view: SeatView) -> Panel:
        """Deliveries and soups of the last tick, and why one's own command came to nothing; not every
        move."""
        return spoken_panel(view, lambda step: past(step, view))

    def entry_words(self, layer: str, entry: Mapping[str, Json], brief: Mapping[str, Json]) -> str:
        """`onion`, `onion, onion; not cooking yet`."""
        if layer == "pots":
            return pot(entry["contents"], entry["left"], brief)
        return super().entry_words(layer, entry, brief)

    def thing_words(self, item: Json) -> str:
        """`onion`, `soup of onion, onion, onion`, `nothing`."""
        return thing(item)

    def pad_text(self, verb: str, view: SeatView) -> str:
        """Using says what comes of it."""
        return use(view, ahead(view.brief, view.observation, view.seat)) if verb == "interact" else ""

    def script_rules(self, view: SeatView) -> Mapping[str, Json]:
        """Beside all else, how long soups cook: for the rings in pots."""
        return {**super().script_rules(view), "time": view.brief["time"]}

    def script_words(self, view: SeatView) -> Mapping[str, Json]:
        """Beside all else, what is said of pots, soups and deliveries."""
        return {**super().script_words(view), **script_words()}

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Orders in words and pictures, how long all lasts, keys."""
        keys = [(gettext(key.label), phrase((verb,))) for verb, key in self.pad.items()]
        return {**handbook(brief), "keys": keys}

    def phrase(self, command: Command) -> str:
        """`Go left`."""
        return phrase(command)


PAGE = OvercookedPage()
