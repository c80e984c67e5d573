"""The grids in a browser: which panels there are, and the guide. Plain Python, no Django.

Everything here follows from the `SeatView` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kitchen.contract.page import DRAWN, TABLES, Page, Panel, SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.speech import marked, read_later
from kitchen.worlds.overcooked.board import board, seen
from kitchen.worlds.overcooked.grid_words import cooks, grid
from kitchen.worlds.overcooked.handbook import handbook
from kitchen.worlds.overcooked.intents import intents
from kitchen.worlds.overcooked.menu import menu
from kitchen.worlds.overcooked.orders import orders, score
from kitchen.worlds.overcooked.story import spoken, story
from kitchen.worlds.overcooked.words import phrase

_TEMPLATES = "worlds/overcooked"


class OvercookedPage(Page):
    """The grid as a drawing with its twin in words, or in words alone; and a pad."""

    views = (TABLES, DRAWN)
    layout = f"{_TEMPLATES}/layout.jinja"
    overview_layout = f"{_TEMPLATES}/overview.jinja"
    guide = f"{_TEMPLATES}/guide.jinja"
    styles = (f"{_TEMPLATES}/overcooked.css",)
    scripts = ("js/pressing.js", f"{_TEMPLATES}/board.js", f"{_TEMPLATES}/words.js")
    title = read_later("The soup kitchen")
    body = read_later("cook")
    first_steps = (
        marked("Your cook has a ring around it. Arrow keys or the buttons move it."),
        marked("Turn to what you want to use, and press space."),
    )
    aim = read_later("Practice ends when a soup has been delivered, or after {steps} steps.")
    missed = read_later("The time is over, and no soup was delivered yet. That is all right.")

    def panels(self, view: SeatView) -> tuple[Panel, ...]:
        """Score, orders, board, what is seen, what the others will do, grid and cooks in words, what
        happened, menu, and what is spoken: those that are shown."""
        return tuple(make(view) for make in _PANELS if make not in _unseen(view))

    def overview(self, view: SeatView) -> tuple[Panel, ...]:
        """The same without the menu."""
        return tuple(make(view) for make in _PANELS if make not in (menu, *_unseen(view)))

    def handbook(self, brief: Mapping[str, Json]) -> Mapping[str, Json]:
        """Orders in words and pictures, how long all lasts, keys."""
        return handbook(brief)

    def phrase(self, command: Command) -> str:
        """`Go left`."""
        return phrase(command)


_Make = Callable[[SeatView], Panel]
_PANELS: tuple[_Make, ...] = (score, orders, board, seen, intents, grid, cooks, story, menu, spoken)


def _unseen(view: SeatView) -> tuple[_Make, ...]:
    """What is not there: what the others will do where nobody is told; in words alone the drawing, which is
    hidden only where a clock takes the ticks, as its script keeps the score; there, what each tick was."""
    unsaid = () if view.shows_intents else (intents,)
    if view.tick_ms:
        return (story, *unsaid)
    return (board, seen, *unsaid) if view.shown == TABLES else unsaid


PAGE = OvercookedPage()
